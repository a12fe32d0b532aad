-- The task's row: in its partition, or in task_kept once the partition was dropped or the task was replayed. A large payload is in
-- `large_payload`, and only who needs it makes jsonb of it: that takes 25 ms per 500 KB, and most callers want a key or a time.
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
    k.unique_key, k.on_duplicate, k.limit_key, k.time_limit, k.max_attempts, k.large_payload
  from queues.task_kept k where k.task_id = _task_id
  limit 1;
$$;
