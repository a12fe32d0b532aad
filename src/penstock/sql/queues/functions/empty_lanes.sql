-- Deletes a tenant's ready, waiting and parked rows, except in the spared queue, and releases the keys they held.
-- Locks: the keys of parked rows, then the rows it deletes.
create or replace function queues.empty_lanes(_tenant_id uuid, _spared_queue_id smallint)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tasks bigint[];
begin
  perform internal.key_lock(p.key)
  from (
    select distinct k.key from queues.parked k
    where k.tenant_id = _tenant_id and k.queue_id is distinct from _spared_queue_id
    order by k.key
  ) p;
  with shown as (
    delete from queues.ready r
    where r.lane = any (array(
        select unnest(internal.task_lanes(q.queue_id, p.priority, _tenant_id))
        from queues.queue q
        cross join generate_series(0, 9) p (priority)
        where q.queue_id is distinct from _spared_queue_id))
      -- Another tenant may have the same hash.
      and exists (select from queues.find_task(r.task_id) t where t.tenant_id = _tenant_id)
    returning r.task_id
  ), delayed as (
    delete from queues.waiting w
    where w.tenant_id = _tenant_id and w.queue_id is distinct from _spared_queue_id and w.task_id is not null
    returning w.task_id
  ), blocked as (
    delete from queues.parked p
    where p.tenant_id = _tenant_id and p.queue_id is distinct from _spared_queue_id
    returning p.task_id
  )
  select array_agg(g.task_id) into v_tasks
  from (select * from shown union all select * from delayed union all select * from blocked) g;
  insert into queues.freed (queue_id, key, task_id)
  select t.queue_id, h.key, h.task_id
  from queues.held h
  cross join lateral queues.find_task(h.task_id) t
  where h.task_id = any (v_tasks);
  return coalesce(cardinality(v_tasks), 0);
end;
$$;
