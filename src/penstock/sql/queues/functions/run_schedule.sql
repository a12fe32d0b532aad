-- Enqueues a schedule's task now, in addition to its ticks, and returns the task. Raises PS010.
create or replace function queues.run_schedule(_schedule_name text)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schedule queues.schedule;
begin
  select * into v_schedule from queues.schedule s where s.schedule_name = _schedule_name;
  if not found then
    raise exception using errcode = 'PS010', detail = 'schedule',
      message = format('there is no schedule %L', _schedule_name),
      hint = 'List the schedules: penstock schedule list';
  end if;
  perform queues.note_audit('run_schedule', _schedule_name);
  return queues.enqueue(
    v_schedule.task_type, v_schedule.payload, _queue => v_schedule.queue_name, _priority => v_schedule.priority);
end;
$$;
