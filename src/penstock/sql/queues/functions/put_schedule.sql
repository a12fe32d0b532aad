-- Declares a cron schedule; _next_at is its next tick, computed by the caller from the cron line. Declaring it
-- again unchanged keeps the tick that is already set, so restarts neither skip nor repeat one.
create or replace function queues.put_schedule(
  _schedule_name text,
  _cron text,
  _timezone text,
  _next_at timestamptz,
  _task_type text,
  _payload jsonb default '{}',
  _queue text default null,
  _priority integer default null
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from queues.task_type t where t.task_type = _task_type) then
    raise exception using errcode = 'PS001', detail = 'task_type',
      message = format('there is no task type %L', _task_type),
      hint = 'Declare it before its schedule.';
  end if;
  insert into queues.schedule as s (schedule_name, cron, timezone, next_at, task_type, payload, queue_name, priority)
  values (_schedule_name, _cron, _timezone, _next_at, _task_type, _payload, _queue, _priority)
  on conflict (schedule_name) do update set
    cron = excluded.cron, timezone = excluded.timezone, task_type = excluded.task_type, payload = excluded.payload,
    queue_name = excluded.queue_name, priority = excluded.priority,
    next_at = case when (s.cron, s.timezone) = (excluded.cron, excluded.timezone) then s.next_at
      else excluded.next_at end
  where (s.cron, s.timezone, s.task_type, s.payload, s.queue_name, s.priority) is distinct from
    (excluded.cron, excluded.timezone, excluded.task_type, excluded.payload, excluded.queue_name, excluded.priority);
end;
$$;
