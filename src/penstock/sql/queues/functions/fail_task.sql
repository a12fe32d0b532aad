-- For simple workers: records an error of the task. It does not end the task and closes no lease.
create or replace function queues.fail_task(_task_id bigint, _error_message text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lease queues.lease;
begin
  if not exists (select from queues.find_task(_task_id)) then
    raise exception using errcode = 'PS007', detail = 'task_id',
      message = format('there is no task %s', _task_id),
      hint = 'Record errors of tasks that dequeue_next_available_task() returned.';
  end if;
  select * into v_lease from queues.lease l where l.worker_id = 0 and l.task_id = _task_id;
  perform queues.note_error(
    _task_id, v_lease, coalesce(v_lease.failures, 0) + 1, 'Error', coalesce(_error_message, ''), null);
end;
$$;
