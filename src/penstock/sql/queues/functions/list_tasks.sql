-- Tasks in one state (running, ready, waiting, parked, dead, or an outcome): pending ones oldest first, ended ones newest
-- first (among the last million that ended).
create or replace function queues.list_tasks(
  _state text default 'running', _queue text default null, _task_type text default null, _limit integer default 50
)
returns table (
  task_id bigint, task_type text, queue text, state text, attempt integer, enqueued_at timestamptz, at timestamptz,
  worker_id integer
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unfiltered boolean := _queue is null and _task_type is null and internal.sees_all();
begin
  if _state not in ('running', 'ready', 'waiting', 'parked', 'dead')
    and not exists (select from unnest(enum_range(null::queues.outcome)) as o (name) where o.name::text = _state)
  then
    raise exception using errcode = 'PS005', detail = 'state',
      message = format('%L is not a state of a task', _state),
      hint = 'Use running, ready, waiting, parked, dead, completed, failed, lost, snoozed, cancelled, released, skipped, merged or replaced.';
  end if;
  return query
  select t.task_id, t.task_type, q.queue_name, _state, s.attempt, t.enqueued_at, s.at, s.worker_id
  from (
    select l.task_id, l.failures + 1 as attempt, l.claimed_at as at, l.worker_id, l.lease_id as ord
    from queues.lease l where _state = 'running'
    union all
    (select r.task_id, r.failures + 1, null, null, r.seq from queues.ready r where _state = 'ready'
      order by r.lane, r.seq limit case when v_unfiltered then _limit end)
    union all
    select w.task_id, w.failures + 1, w.due_at, null, w.seq
    from queues.waiting w where _state = 'waiting' and w.task_id is not null
    union all
    select p.task_id, p.failures + 1, null, null, p.seq from queues.parked p where _state = 'parked'
    union all
    select d.task_id, d.attempts, d.died_at, null, -extract(epoch from d.died_at)::bigint
    from queues.dead_letter d where _state = 'dead'
    union all
    (select a.task_id, a.attempt_number, a.closed_at, a.worker_id, -a.attempt_id
    from queues.attempt a
    where a.outcome = (select o.name from unnest(enum_range(null::queues.outcome)) as o (name) where o.name::text = _state)
      and a.attempt_id > (select s.last_value - 1000000 from queues.lease_id_seq s)
    order by a.attempt_id desc limit case when v_unfiltered then _limit end)
  ) s
  cross join lateral (
    select f.task_id, f.task_type, f.enqueued_at, f.queue_id, f.tenant_id from queues.find_task(s.task_id) f
    union all
    select d.task_id, d.task_type, d.enqueued_at, d.queue_id, d.tenant_id from queues.dead_letter d
    where d.task_id = s.task_id and _state = 'dead'
    limit 1
  ) t
  join queues.queue q on q.queue_id = t.queue_id
  where internal.may_see(t.tenant_id) and (_queue is null or q.queue_name = _queue) and (_task_type is null or t.task_type = _task_type)
  order by s.ord
  limit _limit;
end;
$$;
