-- Every lane that tasks of this tenant can be in, with its queue; null is the tasks without a tenant.
create or replace function queues.tenant_lanes(_tenant_id uuid, _queue_id smallint default null)
returns table (queue_id smallint, lane bigint)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select q.queue_id, internal.lane(q.queue_id, c.class, _tenant_id)
  from queues.queue q
  cross join (
    select g.n from generate_series(internal.return_class(), 10) as g (n)
    union all select internal.suspect_class()
  ) as c (class)
  where _queue_id is null or q.queue_id = _queue_id;
$$;
