-- A claim gave a worker all the tasks it has room for. If there are more in these lanes, it needs no wake-up to find them: it leaves the
-- list of those who wait, and the next worker is woken. If there are none, it stays on the list as the last to be told.
-- Costs one lookup while nobody waits. Locks: the worker's own row of the list, skip locked.
create or replace function queues.note_full(_worker_id integer, _queue_id smallint, _lanes bigint[], _starts bigint[])
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
begin
  if not exists (select from queues.idle i where i.queue_id = _queue_id) then
    return;
  end if;
  if exists (
    select
    from unnest(_lanes, _starts) as l (lane, start)
    cross join lateral (select from queues.ready c where c.lane = l.lane and c.seq >= l.start limit 1) m)
  then
    delete from queues.idle i
    where i.ctid = (
      select o.ctid from queues.idle o
      where o.queue_id = _queue_id and o.worker_id = _worker_id
      for update skip locked);
    perform queues.wake(_queue_id, true, _worker_id);
  else
    update queues.idle i set load = 10, polls_until = null
    where i.ctid = (
      select o.ctid from queues.idle o
      where o.queue_id = _queue_id and o.worker_id = _worker_id and o.load < 10
      for update skip locked);
  end if;
end;
$$;
