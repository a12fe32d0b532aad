-- The cron schedules with their next and last ticks.
create or replace function queues.schedules()
returns table (
  schedule_name text, cron text, timezone text, task_type text, queue text, enabled boolean,
  next_at timestamptz, last_at timestamptz, last_task_id bigint
)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select s.schedule_name, s.cron, s.timezone, s.task_type, s.queue_name, s.enabled, s.next_at, s.last_at,
    s.last_task_id
  from queues.schedule s
  order by s.schedule_name;
$$;
