-- Appends an error of a task.
create or replace function queues.note_error(
  _task_id bigint, _lease queues.lease, _attempt_number integer, _error_code text, _error_message text, _details jsonb
)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into queues.error (
    task_id, attempt_id, tenant_id, attempt_number, worker_id, error_code, error_message, details, fingerprint, occurred_at)
  select t.task_id, _lease.lease_id, t.tenant_id, _attempt_number, _lease.worker_id, _error_code, left(_error_message, 8000),
    _details, internal.fingerprint(t.task_type, _error_code, _error_message), internal.clock()
  from queues.find_task(_task_id) t;
$$;
