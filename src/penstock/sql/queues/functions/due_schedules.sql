-- The schedules whose tick has come, and the database's time, from which the caller computes the next tick.
create or replace function queues.due_schedules()
returns table (schedule_name text, cron text, timezone text, next_at timestamptz, clock timestamptz)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select s.schedule_name, s.cron, s.timezone, s.next_at, internal.clock()
  from queues.schedule s
  where s.enabled and s.next_at <= internal.clock();
$$;
