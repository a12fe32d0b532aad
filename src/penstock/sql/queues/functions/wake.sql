-- Tells one worker that waits for a queue that there is something to claim: the least busy one. NOTIFY takes one cluster-wide lock at
-- commit (in every enqueue it cost 16 writers two thirds of their rate), so it is sent only while a worker waits and none polls; sent to
-- all of them, eight idle workers made 7.6 claims per task. The channel is the worker's own, so equal messages of one transaction are one.
-- A worker whose listener is gone no longer holds its mailbox's lock, and is passed over. With _ready there is a task to claim and
-- nothing else changed; otherwise the worker also asks again when the next row is due. Locks: the mailboxes of dead workers, shared.
create or replace function queues.wake(_queue_id smallint, _ready boolean default false, _except integer default null)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_idle record;
  v_message text := _queue_id || case when _ready then '' else ':due' end;
begin
  for v_idle in
    select i.worker_id, i.mailbox, i.load, i.polls_until
    from queues.idle i
    where i.queue_id = _queue_id
    order by i.queue_id, i.load, i.worker_id
  loop
    -- Passed on, it goes only to somebody with room: full workers would pass it to each other without end.
    continue when v_idle.worker_id = _except or (_except is not null and v_idle.load = 10);
    if v_idle.polls_until is not null then
      exit when v_idle.polls_until > internal.clock();
      continue;
    end if;
    if v_idle.mailbox is null then
      perform pg_notify('penstock_ready', v_message);
      exit;
    end if;
    if not pg_try_advisory_xact_lock_shared(internal.mailbox_class(), v_idle.mailbox) then
      perform pg_notify('penstock_worker_' || v_idle.mailbox, v_message);
      exit;
    end if;
  end loop;
end;
$$;
