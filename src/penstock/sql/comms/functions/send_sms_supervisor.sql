-- Decides what comes next for one message: nothing more, another attempt, or another look later.
-- Locks: the task's row, so that two runs at once come one after the other; then the open root's. Raises PS012, PS017.
create or replace function comms.send_sms_supervisor(_payload jsonb)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_process constant text := 'comms.send_sms';
  v_task_id bigint := internal.payload_id(_payload, 'send_sms_task_id');
  v_task comms.send_sms_task;
  v_attempt comms.send_sms_attempt;
  v_channel_payload jsonb;
  v_attempts integer := 0;
  v_failures integer := 0;
  v_succeeded boolean := false;
  v_failed_at timestamptz;
  v_decided jsonb;
begin
  -- Input
  if v_task_id is null then
    return internal.refusal('missing_send_sms_task_id', 'send_sms_task_id must be the number of a task');
  end if;
  select * into v_task from comms.send_sms_task t
  where t.tenant_id = internal.require_tenant() and t.send_sms_task_id = v_task_id
  for update;
  if not found then
    return internal.refusal('send_sms_task_not_found', format('there is no send_sms task %s', v_task_id));
  end if;
  if not internal.is_current_check(v_process, v_task_id, _payload) then
    return internal.progress('overtaken');
  end if;
  select * into v_attempt from comms.send_sms_attempt a
  where a.send_sms_task_id = v_task_id and a.send_sms_attempt_id > v_task.restarted_after
  order by a.send_sms_attempt_id desc limit 1;
  if found then
    v_attempts := comms.count_send_sms_attempts(v_task_id);
    v_failures := comms.count_send_sms_failed_attempts(v_task_id);
    v_succeeded := comms.has_send_sms_succeeded_attempt(v_task_id);
  end if;
  if v_attempts > v_failures and not v_succeeded
    and internal.ended_silently(v_attempt.task_id, v_attempt.created_at)
  then
    perform comms.record_sms_failure(jsonb_build_object(
      'original_payload', jsonb_build_object('send_sms_attempt_id', v_attempt.send_sms_attempt_id),
      'error', 'its task ended and nobody said how'));
    v_failures := v_failures + 1;
  end if;

  -- Compute
  if v_attempts > 0 then
    select f.created_at into v_failed_at
    from comms.send_sms_attempt_failed f where f.send_sms_attempt_id = v_attempt.send_sms_attempt_id;
    v_decided := internal.decide(
      v_process, v_task_id, v_attempts, v_failures, v_succeeded,
      v_failures > 0 and comms.is_send_sms_stuck(v_task.sms_message_id), v_attempt.created_at, v_failed_at);
    if v_decided is not null then
      return v_decided;
    end if;
  end if;

  -- Output
  v_attempt.send_sms_attempt_id :=
    nextval(pg_get_serial_sequence('comms.send_sms_attempt', 'send_sms_attempt_id'));
  v_channel_payload := jsonb_build_object(
    'task_type', 'sms',
    'send_sms_attempt_id', v_attempt.send_sms_attempt_id,
    'before_handler', 'comms.get_sms_payload',
    'success_handler', 'comms.record_sms_success',
    'error_handler', 'comms.record_sms_failure');
  insert into comms.send_sms_attempt (send_sms_attempt_id, tenant_id, send_sms_task_id, task_id, created_at)
  values (
    v_attempt.send_sms_attempt_id, v_task.tenant_id, v_task_id,
    queues.enqueue('sms', v_channel_payload, _tenant_id => v_task.tenant_id), internal.clock());
  return internal.progress('attempted', jsonb_build_object(
    'send_sms_attempt_id', v_attempt.send_sms_attempt_id,
    'next_check_at', internal.next_check(v_process, v_task_id, internal.watch_after(internal.clock()))));
end;
$$;
