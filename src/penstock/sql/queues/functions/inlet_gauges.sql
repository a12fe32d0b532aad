-- What each inlet counted and how far it is behind, read by any process, for the gauges of workers; in a transaction of a tenant
-- only its own. `lag_seconds`: what its reader says now, or that of a batch of the last minute; null if nobody knows.
-- `silent_seconds`: since its last message; null before its first.
create or replace function queues.inlet_gauges()
returns table (
  inlet text,
  kind text,
  received bigint,
  taken bigint,
  duplicates bigint,
  refused bigint,
  lag_seconds double precision,
  backlog bigint,
  silent_seconds double precision
)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select i.name, i.kind, c.received, c.taken, c.duplicates, c.refused,
    extract(epoch from coalesce(h.lag, l.lag))::double precision, h.backlog,
    greatest(0, extract(epoch from internal.clock() - c.last_received_at))::double precision
  from queues.inlet i
  left join queues.inlet_hold h on h.inlet_id = i.inlet_id and h.held_until > internal.clock()
  cross join lateral (
    select coalesce(sum(c.received), 0)::bigint as received, coalesce(sum(c.taken), 0)::bigint as taken,
      coalesce(sum(c.duplicates), 0)::bigint as duplicates, coalesce(sum(c.refused), 0)::bigint as refused,
      max(c.at) filter (where c.received > 0) as last_received_at
    from queues.inlet_count c where c.inlet_id = i.inlet_id
  ) c
  left join lateral (
    select n.lag from queues.inlet_count n
    where n.inlet_id = i.inlet_id and n.at > internal.clock() - interval '1 minute' order by n.at desc limit 1
  ) l on true
  where i.removed_at is null and (internal.tenant_id() is null or i.tenant_id = internal.tenant_id())
  order by i.name;
$$;
