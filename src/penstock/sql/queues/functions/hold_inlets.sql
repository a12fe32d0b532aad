-- Renews what this process holds and takes enabled inlets of these kinds that nobody holds, or whose holder is silent; returns
-- all it holds now. `_only` names one inlet. `_status`: by inlet, how its reading goes (backlog, lag_seconds, error). With
-- `_beside` it also returns inlets that another process holds, to be read beside that one: two readers take nothing twice.
-- Two that ask at once: one gets it. Locks: none that another caller waits for longer than this statement.
create or replace function queues.hold_inlets(
  _holder text, _kinds text[], _seconds double precision, _only text default null, _status jsonb default '{}',
  _beside boolean default false
)
returns table (name text, kind text, source text, config jsonb, tenant text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
begin
  insert into queues.inlet_hold as h (inlet_id, holder, held_since, held_until)
  select i.inlet_id, _holder, v_now, v_now + make_interval(secs => _seconds)
  from queues.inlet i
  where i.enabled and i.removed_at is null and i.kind = any (_kinds) and (_only is null or i.name = _only)
    and (internal.tenant_id() is null or i.tenant_id = internal.tenant_id())
    and not exists (
      select from queues.inlet_hold o where o.inlet_id = i.inlet_id and o.holder <> _holder and o.held_until > v_now)
  order by i.inlet_id
  on conflict (inlet_id) do update set
    holder = excluded.holder,
    held_since = case when h.holder = excluded.holder then h.held_since else excluded.held_since end,
    held_until = excluded.held_until,
    backlog = case when h.holder = excluded.holder then h.backlog end,
    lag = case when h.holder = excluded.holder then h.lag end,
    error = case when h.holder = excluded.holder then h.error end
  where h.holder = excluded.holder or h.held_until <= v_now;
  update queues.inlet_hold h set
    backlog = (s.status ->> 'backlog')::bigint,
    lag = make_interval(secs => (s.status ->> 'lag_seconds')::double precision),
    error = left(s.status ->> 'error', 500)
  from queues.inlet i
  join jsonb_each(_status) as s (name, status) on s.name = i.name
  where i.removed_at is null and h.inlet_id = i.inlet_id and h.holder = _holder
    and (internal.tenant_id() is null or i.tenant_id = internal.tenant_id());
  return query
    select i.name, i.kind, i.source, i.config, s.slug
    from queues.inlet i
    left join queues.inlet_hold h on h.inlet_id = i.inlet_id and h.holder = _holder and h.held_until > v_now
    left join lateral all_tenants.slugs_of(array[i.tenant_id]) s on i.tenant_id is not null
    where (h.inlet_id is not null or _beside and i.kind = any (_kinds))
      and (internal.tenant_id() is null or i.tenant_id = internal.tenant_id()) and i.enabled and i.removed_at is null
      and (_only is null or i.name = _only)
    order by i.name;
end;
$$;
