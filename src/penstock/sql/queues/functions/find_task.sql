-- The task's row: in its partition, or in task_kept once the partition was dropped or the task was replayed.
create or replace function queues.find_task(_task_id bigint)
returns setof queues.task
language sql
stable
security definer
rows 1
set search_path = pg_catalog, pg_temp
as $$
  select t.* from queues.task t where t.task_id = _task_id
  union all
  select k.task_id, k.task_type, k.payload, k.enqueued_at, k.scheduled_at, k.queue_id, k.priority, k.tenant_id,
    k.unique_key, k.on_duplicate, k.limit_key, k.time_limit, k.max_attempts
  from queues.task_kept k where k.task_id = _task_id
  limit 1;
$$;
