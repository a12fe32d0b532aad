-- The inlets, or the one of this name, with what they counted, who reads them and how that goes. Operators see all, a tenant
-- those of its own. `lag_seconds`: how long the oldest message of the last batch had waited, or what its reader says now.
create or replace function queues.inlets(_inlet text default null)
returns table (
  name text,
  kind text,
  source text,
  tenant text,
  task_types text[],
  config jsonb,
  enabled boolean,
  retention interval,
  created_at timestamptz,
  received bigint,
  taken bigint,
  duplicates bigint,
  refused bigint,
  last_received_at timestamptz,
  last_taken_at timestamptz,
  lag_seconds double precision,
  backlog bigint,
  holder text,
  held_since timestamptz,
  error text
)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select i.name, i.kind, i.source, s.slug, i.task_types, i.config, i.enabled, i.retention, i.created_at,
    c.received, c.taken, c.duplicates, c.refused, c.last_received_at, c.last_taken_at,
    extract(epoch from coalesce(h.lag, l.lag))::double precision, h.backlog, h.holder, h.held_since, h.error
  from queues.inlet i
  left join lateral all_tenants.slugs_of(array[i.tenant_id]) s on i.tenant_id is not null
  left join queues.inlet_hold h on h.inlet_id = i.inlet_id and h.held_until > internal.clock()
  cross join lateral (
    select coalesce(sum(c.received), 0)::bigint as received, coalesce(sum(c.taken), 0)::bigint as taken,
      coalesce(sum(c.duplicates), 0)::bigint as duplicates, coalesce(sum(c.refused), 0)::bigint as refused,
      max(c.at) filter (where c.received > 0) as last_received_at, max(c.last_taken_at) as last_taken_at
    from queues.inlet_count c where c.inlet_id = i.inlet_id
  ) c
  left join lateral (
    select n.lag from queues.inlet_count n where n.inlet_id = i.inlet_id order by n.at desc limit 1
  ) l on true
  where i.removed_at is null and (_inlet is null or i.name = _inlet) and internal.may_see(i.tenant_id)
  order by i.name;
$$;
