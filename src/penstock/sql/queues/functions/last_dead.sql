-- The newest dead letter of a task type whose payload has this value under this key.
create or replace function queues.last_dead(_task_type text, _key text, _value text, _tenant_id uuid default null)
returns table (task_id bigint, reason text, error_code text, error_message text, died_at timestamptz)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select d.task_id, d.reason::text, d.error_code, d.error_message, d.died_at
  from queues.dead_letter d
  where d.task_type = _task_type and d.tenant_id is not distinct from _tenant_id and d.payload ->> _key = _value
  order by d.died_at desc limit 1;
$$;
