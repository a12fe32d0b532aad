-- Makes a dead letter of a task whose lease was closed: the whole task with the error of every attempt. For a task of a
-- channel it also enqueues the error handler. _failures counts the runs that failed, _losses those whose worker was lost.
create or replace function queues.bury(
  _lease queues.lease, _failures integer, _losses integer, _reason text, _error_code text, _error_message text
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into queues.dead_letter (
    task_id, task_type, payload, enqueued_at, scheduled_at, queue_id, priority, tenant_id, unique_key,
    on_duplicate, limit_key, time_limit, max_attempts, attempts, losses, reason, error_code, error_message, fingerprint,
    errors, died_at)
  select
    t.task_id, t.task_type, coalesce(t.payload, t.large_payload::jsonb), t.enqueued_at, t.scheduled_at, t.queue_id, t.priority,
    t.tenant_id, t.unique_key,
    t.on_duplicate, t.limit_key, t.time_limit, t.max_attempts, _failures, _losses, _reason, _error_code, _error_message,
    internal.fingerprint(t.task_type, _error_code, _error_message),
    (select coalesce(jsonb_agg(jsonb_build_object(
        'attempt', e.attempt_number, 'error_code', e.error_code, 'error_message', e.error_message, 'details', e.details,
        'worker_id', e.worker_id, 'occurred_at', e.occurred_at) order by e.error_id), '[]')
      from queues.error e where e.task_id = _lease.task_id),
    internal.clock()
  from queues.find_task(_lease.task_id) t;
  if _lease.held <> 0 then
    perform queues.free_keys(array[_lease.task_id], true);
  end if;
  -- A provider that did the work must not be asked again because its success could not be recorded.
  perform queues.note_bad_end(
    _lease.task_id, format('%s: %s', _error_code, _error_message), _error_code <> 'SuccessNotRecorded');
end;
$$;
