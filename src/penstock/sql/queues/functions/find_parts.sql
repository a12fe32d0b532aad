-- What all tenants share and a filter selects, by name, with its state: `workers` (by id; alive, stopping, silent, lost, stopped),
-- `queues` (running, paused), `schedules` (on, off), `inlets` (running, waiting, failing, paused; a tenant sees its own). Filters: `q` is part of the name; `state`; `queue`, of workers; `ids`. Lists and
-- operations both use it, so that the same words select the same rows. Raises PS005.
create or replace function queues.find_parts(_part text, _filter jsonb default '{}', _before timestamptz default 'infinity')
returns table (item text, state text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select p.item, p.state
  from (
    select w.worker_id::text as item, w.worker_name as name, w.queue_names as serves, queues.worker_state(w) as state
    from queues.worker w
    where _part = 'workers' and w.worker_id > 0 and w.started_at <= _before
      and coalesce(w.stopped_at, 'infinity') > internal.clock() - interval '1 day'
      and coalesce(w.lost_at, 'infinity') > internal.clock() - interval '1 day'
    union all
    select q.queue_name, q.queue_name, null, case when q.paused_at is null then 'running' else 'paused' end
    from queues.queue q where _part = 'queues'
    union all
    select s.schedule_name, s.schedule_name, null, case when s.enabled then 'on' else 'off' end
    from queues.schedule s where _part = 'schedules'
    union all
    select i.name, i.name, null, case
      when not i.enabled then 'paused'
      when h.error is not null then 'failing'
      when h.inlet_id is not null then 'running'
      else 'waiting' end
    from queues.inlet i
    left join queues.inlet_hold h on h.inlet_id = i.inlet_id and h.held_until > internal.clock()
    where _part = 'inlets' and i.removed_at is null and i.created_at <= _before
      and (internal.may_see(i.tenant_id)
        -- A worker reads the inlets of every tenant, and runs the operations on them.
        or internal.tenant_id() is null and pg_has_role(session_user, 'worker_service_user', 'member'))
  ) p
  where (_filter ->> 'q' is null or strpos(lower(p.name), lower(_filter ->> 'q')) > 0)
    and (_filter ->> 'queue' is null or _filter ->> 'queue' = any (p.serves))
    and internal.in_filter(p.state, _filter ->> 'state')
    and (not _filter ? 'ids' or _filter -> 'ids' ? p.item);
$$;
