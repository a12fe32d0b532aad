-- Fires one tick: enqueues the schedule's task and sets the next tick, if the tick is still the one the caller
-- saw. Any number of workers may call it for the same tick; one enqueues. Returns the task, or null.
-- Locks: the schedule's row, skip locked.
create or replace function queues.fire_schedule(_schedule_name text, _tick timestamptz, _next_at timestamptz)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schedule queues.schedule;
  v_task_id bigint;
begin
  select * into v_schedule
  from queues.schedule s
  where s.schedule_name = _schedule_name and s.next_at = _tick and s.enabled
  for update skip locked;
  if not found then
    return null;
  end if;
  v_task_id := queues.enqueue(
    v_schedule.task_type, v_schedule.payload, _queue => v_schedule.queue_name, _priority => v_schedule.priority);
  update queues.schedule s set next_at = _next_at, last_at = _tick, last_task_id = v_task_id
  where s.schedule_name = _schedule_name;
  return v_task_id;
end;
$$;
