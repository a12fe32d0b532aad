-- The declared task types with what is known of their payload.
create or replace function queues.task_types()
returns table (
  task_type text, queue text, priority smallint, max_attempts smallint, required_keys text[], payload_schema jsonb
)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select t.task_type, q.queue_name, t.priority, t.max_attempts, t.required_keys, t.payload_schema
  from queues.task_type t join queues.queue q using (queue_id)
  order by t.task_type;
$$;
