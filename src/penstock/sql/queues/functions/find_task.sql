-- The task's row: in its partition, or in task_kept once the partition was dropped or the task was replayed. `payload` has the payload
-- however large it is; `large_payload` is always null here.
create or replace function queues.find_task(_task_id bigint)
returns setof queues.task
language sql
stable
security definer
rows 1
set search_path = pg_catalog, pg_temp
as $$
  select t.task_id, t.task_type, coalesce(t.payload, t.large_payload::jsonb), t.enqueued_at, t.scheduled_at, t.queue_id, t.priority,
    t.tenant_id, t.unique_key, t.on_duplicate, t.limit_key, t.time_limit, t.max_attempts, null::json
  from queues.task t where t.task_id = _task_id
  union all
  select k.task_id, k.task_type, coalesce(k.payload, k.large_payload::jsonb), k.enqueued_at, k.scheduled_at, k.queue_id, k.priority,
    k.tenant_id, k.unique_key, k.on_duplicate, k.limit_key, k.time_limit, k.max_attempts, null
  from queues.task_kept k where k.task_id = _task_id
  limit 1;
$$;
