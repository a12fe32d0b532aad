-- Seconds until a queue has to be looked at again even if nobody sends a wake-up: the next due row, a freed key, the next
-- token of its bucket. Null when nothing is due. The idle worker uses it as its timer.
create or replace function queues.next_due(_queue text)
returns double precision
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
  v_queue queues.queue;
  v_due timestamptz;
begin
  select * into v_queue from queues.queue q where q.queue_name = _queue;
  if not found or v_queue.paused_at is not null then
    return null;
  end if;
  if exists (select from queues.freed f where f.queue_id = v_queue.queue_id) then
    return 0;
  end if;
  select w.due_at into v_due
  from queues.waiting w where w.queue_id = v_queue.queue_id order by w.queue_id, w.due_at, w.seq limit 1;
  if v_queue.rate_count is not null and exists (
    select from queues.ready r
    where r.lane >= internal.first_lane(v_queue.queue_id) and r.lane < internal.first_lane(v_queue.queue_id + 1))
  then
    v_due := least(v_due, (select r.next_at from queues.rate_room(
      internal.key_hash('queue', v_queue.queue_id::text), v_queue.rate_count, v_queue.rate_period,
      v_queue.rate_burst) r));
  end if;
  -- greatest() alone would turn null into zero, and an idle worker would poll without pause.
  return case when v_due is not null then greatest(0, extract(epoch from v_due - internal.clock())) end;
end;
$$;
