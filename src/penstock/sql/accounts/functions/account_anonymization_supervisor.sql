-- Decides what comes next for one account: nothing more, another attempt, or another look later.
-- Locks: the task's row, so that two runs at once come one after the other; then the open root's. Raises PS012, PS017.
create or replace function accounts.account_anonymization_supervisor(_payload jsonb)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_process constant text := 'accounts.account_anonymization';
  v_task_id bigint := internal.payload_id(_payload, 'account_anonymization_task_id');
  v_task accounts.account_anonymization_task;
  v_attempt accounts.account_anonymization_attempt;
  v_channel_payload jsonb;
  v_attempts integer := 0;
  v_failures integer := 0;
  v_succeeded boolean := false;
  v_failed_at timestamptz;
  v_decided jsonb;
  v_open integer;
begin
  -- Input
  if v_task_id is null then
    return internal.refusal('missing_account_anonymization_task_id', 'account_anonymization_task_id must be the number of a task');
  end if;
  select * into v_task from accounts.account_anonymization_task t
  where t.tenant_id = internal.require_tenant() and t.account_anonymization_task_id = v_task_id
  for update;
  if not found then
    return internal.refusal('account_anonymization_task_not_found', format('there is no account_anonymization task %s', v_task_id));
  end if;
  if not internal.is_current_check(v_process, v_task_id, _payload) then
    return internal.progress('overtaken');
  end if;
  select * into v_attempt from accounts.account_anonymization_attempt a
  where a.account_anonymization_task_id = v_task_id and a.account_anonymization_attempt_id > v_task.restarted_after
  order by a.account_anonymization_attempt_id desc limit 1;
  if found then
    v_attempts := accounts.count_account_anonymization_attempts(v_task_id);
    v_failures := accounts.count_account_anonymization_failed_attempts(v_task_id);
    v_succeeded := accounts.has_account_anonymization_succeeded_attempt(v_task_id);
  end if;
  if v_attempts > v_failures and not v_succeeded
    and internal.ended_silently(v_attempt.task_id, v_attempt.created_at)
  then
    perform accounts.record_account_anonymization_failure(jsonb_build_object(
      'original_payload', jsonb_build_object('account_anonymization_attempt_id', v_attempt.account_anonymization_attempt_id),
      'error', 'its task ended and nobody said how'));
    v_failures := v_failures + 1;
  end if;

  -- Compute
  if v_attempts > 0 then
    select f.created_at into v_failed_at
    from accounts.account_anonymization_attempt_failed f where f.account_anonymization_attempt_id = v_attempt.account_anonymization_attempt_id;
    v_decided := internal.decide(
      v_process, v_task_id, v_attempts, v_failures, v_succeeded,
      v_failures > 0 and accounts.is_account_anonymization_stuck(v_task.tenant_id), v_attempt.created_at, v_failed_at);
    if v_decided is not null then
      return v_decided;
    end if;
  end if;
  -- Its lanes are stopped first, and what runs for it is waited out: nothing may write after the end.
  v_open := queues.stop_tenant(v_task.tenant_id, 'account-deletion');
  if v_open > 0 then
    return internal.progress('waiting_for_leases', jsonb_build_object(
      'open', v_open,
      'next_check_at', internal.next_check(v_process, v_task_id, internal.clock() + interval '1 second')));
  end if;

  -- Output
  v_attempt.account_anonymization_attempt_id :=
    nextval(pg_get_serial_sequence('accounts.account_anonymization_attempt', 'account_anonymization_attempt_id'));
  v_channel_payload := jsonb_build_object(
    'task_type', 'db_function',
    'account_anonymization_attempt_id', v_attempt.account_anonymization_attempt_id,
    'db_function', 'accounts.anonymize_account',
    'success_handler', 'accounts.record_account_anonymization_success',
    'error_handler', 'accounts.record_account_anonymization_failure');
  insert into accounts.account_anonymization_attempt (
    account_anonymization_attempt_id, tenant_id, account_anonymization_task_id, task_id, created_at)
  values (
    v_attempt.account_anonymization_attempt_id, v_task.tenant_id, v_task_id,
    queues.enqueue(
      'db_function', v_channel_payload, _queue => 'account-deletion', _tenant_id => v_task.tenant_id),
    internal.clock());
  return internal.progress('attempted', jsonb_build_object(
    'account_anonymization_attempt_id', v_attempt.account_anonymization_attempt_id,
    'next_check_at', internal.next_check(v_process, v_task_id, internal.watch_after(internal.clock()))));
end;
$$;
