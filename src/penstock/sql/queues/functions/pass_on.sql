-- A worker was told of a task that it cannot take, because its slots are full or it stops: tell the next one. With _overslept it found by
-- itself a task that another one should have been told of: the first one that waits is frozen or deaf, so it is taken off the list; if it
-- is neither, it puts itself back the next time it looks. Locks: the row of that worker, skip locked.
create or replace function queues.pass_on(_worker_id integer, _queue text, _overslept boolean default false)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue_id smallint;
begin
  select q.queue_id into v_queue_id from queues.queue q where q.queue_name = _queue;
  if _overslept then
    perform set_config('synchronous_commit', 'off', true);
    delete from queues.idle i
    where i.ctid = (
      select f.ctid from queues.idle f
      where f.queue_id = v_queue_id and f.worker_id <> _worker_id and f.mailbox is not null
      order by f.load, f.worker_id limit 1
      for update skip locked);
  else
    perform queues.wake(v_queue_id, false, _worker_id);
  end if;
end;
$$;
