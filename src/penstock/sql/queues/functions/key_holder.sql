-- The task that holds a unique key of a task type, or null: tells whether anything will still run for that key.
create or replace function queues.key_holder(_task_type text, _unique_key text, _tenant_id uuid default null)
returns bigint
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select h.task_id from queues.held h
  where h.key = internal.key_hash(format('unique %s %s', coalesce(_tenant_id::text, ''), _task_type), _unique_key)
    and not exists (select from queues.freed f where f.key = h.key and f.task_id = h.task_id);
$$;
