-- Deregisters a worker that shut down gracefully. Leases it still holds go back at once, without being charged.
-- Locks: its idle rows, its own row, its leases in order of their id; maintain takes the first two in the same order.
create or replace function queues.stop_worker(_worker_id integer)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_left bigint[];
begin
  delete from queues.idle i where i.worker_id = _worker_id;
  update queues.worker w set stopped_at = internal.clock() where w.worker_id = _worker_id and w.stopped_at is null;
  select array_agg(l.lease_id) into v_left from queues.lease l where l.worker_id = _worker_id;
  perform queues.wake(q.queue_id)
  from queues.worker w
  cross join lateral unnest(w.queue_names) as n (queue_name)
  join queues.queue q on q.queue_name = n.queue_name
  where w.worker_id = _worker_id;
  return cardinality(queues.release(_worker_id, coalesce(v_left, '{}')));
end;
$$;
