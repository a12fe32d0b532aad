-- Decides what comes next for one file: nothing more, another attempt, or another look later.
-- Locks: the task's row, so that two runs at once come one after the other; then the open root's. Raises PS012, PS017.
create or replace function files.file_deletion_supervisor(_payload jsonb)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_process constant text := 'files.file_deletion';
  v_task_id bigint := internal.payload_id(_payload, 'file_deletion_task_id');
  v_task files.file_deletion_task;
  v_attempt files.file_deletion_attempt;
  v_channel_payload jsonb;
  v_attempts integer := 0;
  v_failures integer := 0;
  v_succeeded boolean := false;
  v_failed_at timestamptz;
  v_decided jsonb;
begin
  -- Input
  if v_task_id is null then
    return internal.refusal('missing_file_deletion_task_id', 'file_deletion_task_id must be the number of a task');
  end if;
  select * into v_task from files.file_deletion_task t
  where t.tenant_id = internal.require_tenant() and t.file_deletion_task_id = v_task_id
  for update;
  if not found then
    return internal.refusal('file_deletion_task_not_found', format('there is no file_deletion task %s', v_task_id));
  end if;
  if not internal.is_current_check(v_process, v_task_id, _payload) then
    return internal.progress('overtaken');
  end if;
  select * into v_attempt from files.file_deletion_attempt a
  where a.file_deletion_task_id = v_task_id and a.file_deletion_attempt_id > v_task.restarted_after
  order by a.file_deletion_attempt_id desc limit 1;
  if found then
    v_attempts := files.count_file_deletion_attempts(v_task_id);
    v_failures := files.count_file_deletion_failed_attempts(v_task_id);
    v_succeeded := files.has_file_deletion_succeeded_attempt(v_task_id);
  end if;
  if v_attempts > v_failures and not v_succeeded
    and internal.ended_silently(v_attempt.task_id, v_attempt.created_at)
  then
    perform files.record_file_delete_failure(jsonb_build_object(
      'original_payload', jsonb_build_object('file_deletion_attempt_id', v_attempt.file_deletion_attempt_id),
      'error', 'its task ended and nobody said how'));
    v_failures := v_failures + 1;
  end if;

  -- Compute
  if v_attempts > 0 then
    select f.created_at into v_failed_at
    from files.file_deletion_attempt_failed f where f.file_deletion_attempt_id = v_attempt.file_deletion_attempt_id;
    v_decided := internal.decide(
      v_process, v_task_id, v_attempts, v_failures, v_succeeded,
      v_failures > 0 and files.is_file_deletion_stuck(v_task.file_id), v_attempt.created_at, v_failed_at);
    if v_decided is not null then
      return v_decided;
    end if;
  end if;
  -- A run that was asked to stop may still write vectors; nothing may come after their removal.
  if exists (
    select from files.file f join ingest.document d using (document_id)
    where f.file_id = v_task.file_id and queues.task_state(d.task_id) = 'running')
  then
    return internal.progress('run_is_ending', jsonb_build_object(
      'next_check_at', internal.next_check(v_process, v_task_id, internal.clock() + interval '1 second')));
  end if;

  -- Output
  v_attempt.file_deletion_attempt_id :=
    nextval(pg_get_serial_sequence('files.file_deletion_attempt', 'file_deletion_attempt_id'));
  v_channel_payload := jsonb_build_object(
    'task_type', 'file_delete',
    'file_deletion_task_id', v_task_id,
    'file_deletion_attempt_id', v_attempt.file_deletion_attempt_id,
    'file_id', v_task.file_id,
    'before_handler', 'files.get_file_delete_payload',
    'success_handler', 'files.record_file_delete_success',
    'error_handler', 'files.record_file_delete_failure');
  insert into files.file_deletion_attempt (file_deletion_attempt_id, tenant_id, file_deletion_task_id, task_id, created_at)
  values (
    v_attempt.file_deletion_attempt_id, v_task.tenant_id, v_task_id,
    queues.enqueue('file_delete', v_channel_payload, _tenant_id => v_task.tenant_id), internal.clock());
  return internal.progress('attempted', jsonb_build_object(
    'file_deletion_attempt_id', v_attempt.file_deletion_attempt_id,
    'next_check_at', internal.next_check(v_process, v_task_id, internal.watch_after(internal.clock()))));
end;
$$;
