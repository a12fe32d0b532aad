-- Registers how a worker waits for a queue, and tells it what it needs to know for that. With _polls_for it looks by itself for this many
-- seconds, and producers notify nobody; otherwise it is woken by NOTIFY on penstock_worker_N, where N is its _mailbox, the less busy it
-- is (_load, 0 to 10) the sooner. is_new: until now producers did not notify it, so it must look once more. waiting: how
-- many workers wait for this queue; ahead: how many of them are woken before it; due: seconds until the next row is due.
-- The commit does not wait for the disk: after a crash of the server the worker registers again.
-- Locks: its own row, which nobody holds for longer than a statement.
create or replace function queues.wait_for_work(
  _worker_id integer,
  _queue text,
  _mailbox integer,
  _load integer default 0,
  _polls_for double precision default null,
  out is_new boolean,
  out waiting integer,
  out ahead integer,
  out due double precision
)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue_id smallint;
  v_old queues.idle;
  v_load smallint := case when _polls_for is null then greatest(0, least(_load, 10)) else -1 end;
begin
  select q.queue_id into v_queue_id from queues.queue q where q.queue_name = _queue;
  if not found then
    raise exception using errcode = 'PS002', detail = 'queue',
      message = format('there is no queue %L', _queue),
      hint = 'Call queues.put_queue() first.';
  end if;
  select * into v_old from queues.idle i where i.queue_id = v_queue_id and i.worker_id = _worker_id;
  is_new := not found or v_old.load is null or v_old.load < 0 or v_old.mailbox is distinct from _mailbox;
  if is_new or v_old.load <> v_load then
    perform set_config('synchronous_commit', 'off', true);
    insert into queues.idle (queue_id, worker_id, mailbox, load, polls_until)
    values (
      v_queue_id, _worker_id, _mailbox, v_load, internal.clock() + make_interval(secs => _polls_for))
    on conflict on constraint idle_pkey do update
    set mailbox = excluded.mailbox, load = excluded.load, polls_until = excluded.polls_until;
  end if;
  if _polls_for is null then
    select count(*), count(*) filter (where (i.load, i.worker_id) < (v_load, _worker_id)) into waiting, ahead
    from queues.idle i where i.queue_id = v_queue_id;
    due := queues.next_due(_queue);
  end if;
end;
$$;
