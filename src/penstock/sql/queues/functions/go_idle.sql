-- Registers a worker as idle on a queue, or removes it: producers send NOTIFY only while such a row exists.
-- After going idle the worker scans once more, because a producer that looked before may commit after.
create or replace function queues.go_idle(_worker_id integer, _queue text, _idle boolean)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if _idle then
    insert into queues.idle (queue_id, worker_id)
    select q.queue_id, _worker_id from queues.queue q where q.queue_name = _queue
    on conflict do nothing;
  else
    delete from queues.idle i
    using queues.queue q
    where q.queue_name = _queue and i.queue_id = q.queue_id and i.worker_id = _worker_id;
  end if;
end;
$$;
