-- Starts as many tasks as a limited key has room for (free slots, and tokens in its bucket), in order of priority and
-- arrival. One row in waiting wakes what the rate holds back. The caller holds the key's lock.
create or replace function queues.drain_key(_key bytea, _queue_id smallint)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limit queues.key_limit;
  v_room integer := 1000;
  v_tokens integer;
  v_next timestamptz;
  v_moved integer := 0;
  v_task record;
  v_ticket record;
begin
  select * into v_limit
  from queues.key_limit l
  where l.queue_id = _queue_id and (l.limit_key = _key or l.limit_key is null)
  order by l.limit_key nulls last limit 1;

  if v_limit.max_running is not null then
    v_room := greatest(0, v_limit.max_running - (select count(*) from queues.held h where h.key = _key));
  end if;
  if v_limit.rate_count is not null then
    select r.room, r.next_at into v_tokens, v_next
    from queues.rate_room(_key, v_limit.rate_count, v_limit.rate_period, v_limit.rate_burst) r;
    v_room := least(v_room, v_tokens);
  end if;

  if v_room > 0 then
    for v_task in
      delete from queues.parked p
      where p.ctid = any (array(
        select c.ctid from queues.parked c where c.key = _key order by c.priority, c.seq limit v_room))
      returning p.*
    loop
      select s.lane, s.seq into v_ticket
      from queues.show_ready(v_task.lane, v_task.task_id, v_task.failures, v_task.losses, v_task.held | 2) s;
      insert into queues.held (key, task_id, lane, seq, held_at)
      values (_key, v_task.task_id, v_ticket.lane, v_ticket.seq, internal.clock());
      if v_task.held & 1 = 1 then
        update queues.held h set lane = v_ticket.lane, seq = v_ticket.seq
        where h.task_id = v_task.task_id and h.key <> _key;
      end if;
      v_moved := v_moved + 1;
    end loop;
  end if;
  if v_moved > 0 and v_limit.rate_count is not null then
    perform queues.rate_take(_key, v_limit.rate_count, v_limit.rate_period, v_limit.rate_burst, v_moved);
    v_tokens := v_tokens - v_moved;
    if v_tokens <= 0 then
      select r.next_at into v_next
      from queues.rate_room(_key, v_limit.rate_count, v_limit.rate_period, v_limit.rate_burst) r;
    end if;
  end if;

  if v_tokens <= 0 and exists (select from queues.parked p where p.key = _key) then
    -- One wake is enough, the earliest: a later one was set under a slower rate. It is not due, so no claim has locked it.
    delete from queues.waiting w where w.wake_key = _key and w.due_at > v_next;
    if exists (select from queues.waiting w where w.wake_key = _key) then
      return v_moved;
    end if;
    insert into queues.waiting (queue_id, due_at, seq, lane, failures, losses, held, keyed, wake_key)
    values (_queue_id, v_next, nextval('queues.task_id_seq'), 0, 0, 0, 0, true, _key);
  end if;
  return v_moved;
end;
$$;
