-- How many tasks a limited queue may start now: its concurrency minus its open leases, and the tokens in its bucket. Zero
-- while another claim from the same queue is deciding. Locks: the queue's advisory try-lock, until the end of the
-- transaction.
create or replace function queues.queue_room(_queue queues.queue, _wanted integer)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key bytea := internal.key_hash('queue', _queue.queue_id::text);
  v_room integer := _wanted;
begin
  if not internal.try_key_lock(v_key) then
    return 0;
  end if;
  if _queue.max_running is not null then
    v_room := least(v_room, _queue.max_running - (
      select count(*)::integer from queues.lease l
      where l.lane >= internal.first_lane(_queue.queue_id) and l.lane < internal.first_lane(_queue.queue_id + 1)));
  end if;
  if v_room > 0 and _queue.rate_count is not null then
    v_room := least(v_room, (
      select r.room from queues.rate_room(v_key, _queue.rate_count, _queue.rate_period, _queue.rate_burst) r));
  end if;
  return greatest(v_room, 0);
end;
$$;
