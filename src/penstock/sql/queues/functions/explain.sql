-- Says why a task is not running and what to do about it, with the console's page of whatever holds it up. The first row is
-- its state. Raises PS007.
create or replace function queues.explain(_task_id bigint)
returns table (reason text, explanation text, remedy text, link text)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_task queues.task;
  v_queue queues.queue;
  v_state text;
  v_row record;
  v_now timestamptz := internal.clock();
  v_key bytea;
  v_lane bigint;
begin
  select * into v_task from queues.find_task(_task_id) t where internal.may_see(t.tenant_id);
  if not found then
    if exists (
      select from queues.dead_letter d where d.task_id = _task_id and internal.may_see(d.tenant_id))
    then
      v_state := 'dead';
    else
      raise exception using errcode = 'PS007', detail = 'task_id',
        message = format('there is no task %s', _task_id),
        hint = 'List the tasks: penstock task list. History is kept only for its retention time.';
    end if;
  end if;
  v_state := coalesce(v_state, queues.task_state(_task_id), 'unknown');
  select * into v_queue from queues.queue q where q.queue_id = v_task.queue_id;

  if v_state = 'running' then
    select l.lease_id, l.claimed_at, l.failures, w.worker_id, w.worker_name, w.beat_at, w.lost_at, l.deadline_at
    into v_row
    from queues.lease l join queues.worker w using (worker_id) where l.task_id = _task_id;
    return query select 'running', format(
      'It has been running (or is about to run) on worker %s (%s) since %s, attempt %s.',
      v_row.worker_id, v_row.worker_name, date_trunc('second', v_row.claimed_at), v_row.failures + 1), 'Nothing to do.',
      '/workers?q=' || internal.in_query(v_row.worker_name);
    if v_row.lost_at is not null then
      return query select 'worker_lost', format('Its worker was declared lost at %s.', date_trunc('second', v_row.lost_at)),
        'The next rescue returns it; some worker rescues every few seconds.', '/workers?q=' || internal.in_query(v_row.worker_name);
    end if;
    return query
    select 'cancel_requested', format('%s asked it to stop at %s: %s', c.requested_by, date_trunc('second', c.requested_at), c.reason),
      'Its worker stops it at the next await; if it never does, its deadline or the loss of the worker ends it.',
      '/workers?q=' || internal.in_query(v_row.worker_name)
    from queues.cancel c where c.task_id = _task_id;
    return;
  end if;

  if v_state = 'dead' then
    return query
    select 'dead', format('It has been a dead letter since %s (%s), after %s failed %s and %s lost %s: %s: %s',
      date_trunc('second', d.died_at), d.reason, d.attempts, case d.attempts when 1 then 'attempt' else 'attempts' end,
      d.losses, case d.losses when 1 then 'worker' else 'workers' end, d.error_code, left(d.error_message, 300)),
      format('Fix the cause, then: penstock dead replay %s', d.task_id), '/failures/task-' || d.fingerprint
    from queues.dead_letter d where d.task_id = _task_id;
    return;
  end if;

  if v_state not in ('ready', 'waiting', 'parked') then
    return query
    select 'ended', format('It ended as %s.', v_state), 'Nothing to do; enqueue it again if it must run again.',
      null::text;
    return;
  end if;

  if v_queue.paused_at is not null then
    return query select 'queue_paused', format('The queue %s has been paused since %s.', v_queue.queue_name, date_trunc('second', v_queue.paused_at)),
      format('penstock queue resume %s', v_queue.queue_name), '/queues/' || v_queue.queue_name;
  end if;
  if not exists (
    select from queues.worker w
    where w.stopped_at is null and w.lost_at is null and w.worker_id > 0
      and w.beat_at > v_now - w.lease_for and v_queue.queue_name = any (w.queue_names))
  then
    return query select 'no_worker', format('No live worker serves the queue %s.', v_queue.queue_name),
      format('penstock worker --queue %s', v_queue.queue_name), '/workers';
  end if;

  if v_state = 'waiting' then
    return query
    select 'not_due', format('It is due at %s, in %s.', date_trunc('second', date_trunc('second', w.due_at)), date_trunc('second', w.due_at - v_now))
      || case when w.failures > 0 then format(' It failed %s.', case when w.failures = 1 then 'once' else w.failures || ' times' end) else '' end,
      format('penstock task retry %s runs it at once.', _task_id), null::text
    from queues.waiting w where w.task_id = _task_id and w.due_at > v_now;
    return query
    select 'admission', 'It is due and waits for a worker to admit it.', 'Nothing to do; a live worker does it at once.', null::text
    from queues.waiting w where w.task_id = _task_id and w.due_at <= v_now;
  end if;

  if v_state = 'parked' then
    select p.key into v_key from queues.parked p where p.task_id = _task_id limit 1;
    return query
    select 'key_held', format('Its key has been held by task %s since %s.', h.task_id, date_trunc('second', h.held_at)),
      format('It starts when that one ends. penstock explain %s', h.task_id), '/tasks/' || h.task_id
    from queues.held h where h.key = v_key limit 5;
    return query
    select 'key_rate', format('The rate limit of its key is used up; the next start is at %s.', date_trunc('second', w.due_at)),
      format('penstock queue limits %s', v_queue.queue_name), '/queues/' || v_queue.queue_name
    from queues.waiting w where w.wake_key = v_key;
    return query
    select 'admission', 'Its key was freed and waits to be handed over.', 'Nothing to do; a live worker does it at once.', null::text
    where exists (select from queues.freed f where f.key = v_key);
  end if;

  if v_state = 'ready' then
    if v_queue.max_running is not null then
      return query
      select 'queue_full',
        format(
          case c.running when 1 then '%s task of the queue is' else '%s tasks of the queue are' end || ' running, and its limit is %s.',
          c.running, v_queue.max_running),
        format('penstock queue limits %s', v_queue.queue_name), '/queues/' || v_queue.queue_name
      from (
        select count(*) as running from queues.lease l
        where l.lane >= internal.first_lane(v_queue.queue_id) and l.lane < internal.first_lane(v_queue.queue_id + 1)
      ) c
      where c.running >= v_queue.max_running;
    end if;
    if v_queue.rate_count is not null then
      return query
      select 'queue_rate', format('The rate limit of the queue is used up; the next start is at %s.', date_trunc('second', r.next_at)),
        format('penstock queue limits %s', v_queue.queue_name), '/queues/' || v_queue.queue_name
      from queues.rate_room(internal.key_hash('queue', v_queue.queue_id::text), v_queue.rate_count,
        v_queue.rate_period, v_queue.rate_burst) r
      where r.room = 0;
    end if;
    v_lane := internal.lane(v_task.queue_id, v_task.priority + 1, v_task.tenant_id);
    return query
    select 'suspect', format('%s workers were lost while they ran it; a worker runs one such task at a time.', r.losses),
      'Nothing to do; if it loses one more it is put in quarantine.', null::text
    from queues.ready r
    where r.lane = internal.lane(v_task.queue_id, internal.suspect_class(), v_task.tenant_id) and r.task_id = _task_id;
    return query
    select 'in_line',
      case c.ahead
        when 0 then 'It is ready, and the next of its lane.'
        when 1 then 'It is ready; 1 task of its lane is ahead of it.'
        else format('It is ready; %s%s tasks of its lane are ahead of it.',
          least(c.ahead, 10000), case when c.ahead > 10000 then ' or more' else '' end)
      end,
      'It runs as soon as a worker has room for it; more workers or more concurrency make that sooner.',
      '/tasks?state=ready&queue=' || v_queue.queue_name
    from (
      -- Its ticket is its id, unless it was admitted or returned.
      select o.lane, o.seq from queues.ready o where o.lane = v_lane and o.seq = _task_id
      union all
      select o.lane, o.seq from queues.ready o
      where o.lane = any (internal.task_lanes(v_task.queue_id, v_task.priority, v_task.tenant_id))
        and o.task_id = _task_id and o.seq <> _task_id
      limit 1
    ) ticket
    cross join lateral (
      select count(*) as ahead
      from (
        select from queues.ready r where r.lane = ticket.lane and r.seq < ticket.seq limit 10001
      ) b
    ) c;
  end if;
end;
$$;
