-- Decides the next step for one subject: finish, make another attempt, or check again later.
-- Locks: the task's row, so that two runs at the same time wait for each other; then the open root's row. Raises PS012, PS017.
create or replace function mill.announce_supervisor(_payload jsonb)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_process constant text := 'mill.announce';
  v_task_id bigint := internal.payload_id(_payload, 'announce_task_id');
  v_task mill.announce_task;
  v_attempt mill.announce_attempt;
  v_channel_payload jsonb;
  v_attempts integer := 0;
  v_failures integer := 0;
  v_succeeded boolean := false;
  v_failed_at timestamptz;
  v_decided jsonb;
begin
  -- Input
  if v_task_id is null then
    return internal.refusal('missing_announce_task_id', 'announce_task_id must be the number of a task');
  end if;
  select * into v_task from mill.announce_task t
  where t.tenant_id = internal.require_tenant() and t.announce_task_id = v_task_id
  for update;
  if not found then
    return internal.refusal('announce_task_not_found', format('there is no announce task %s', v_task_id));
  end if;
  if not internal.is_current_check(v_process, v_task_id, _payload) then
    return internal.progress('overtaken');
  end if;
  select * into v_attempt from mill.announce_attempt a
  where a.announce_task_id = v_task_id and a.announce_attempt_id > v_task.restarted_after
  order by a.announce_attempt_id desc limit 1;
  if found then
    v_attempts := mill.count_announce_attempts(v_task_id);
    v_failures := mill.count_announce_failed_attempts(v_task_id);
    v_succeeded := mill.has_announce_succeeded_attempt(v_task_id);
  end if;
  if v_attempts > v_failures and not v_succeeded
    and internal.ended_silently(v_attempt.task_id, v_attempt.created_at)
  then
    perform mill.record_announce_failure(jsonb_build_object(
      'original_payload', jsonb_build_object('announce_attempt_id', v_attempt.announce_attempt_id),
      'error', 'its task ended without an outcome'));
    v_failures := v_failures + 1;
  end if;

  -- Compute
  if v_attempts > 0 then
    select f.created_at into v_failed_at
    from mill.announce_attempt_failed f where f.announce_attempt_id = v_attempt.announce_attempt_id;
    v_decided := internal.decide(
      v_process, v_task_id, v_attempts, v_failures, v_succeeded,
      v_failures > 0 and mill.is_announce_stuck(v_task.subject), v_attempt.created_at, v_failed_at,
      mill.announce_backoff(v_failures));
    if v_decided is not null then
      return v_decided;
    end if;
  end if;

  -- Output
  v_attempt.announce_attempt_id :=
    nextval(pg_get_serial_sequence('mill.announce_attempt', 'announce_attempt_id'));
  v_channel_payload := jsonb_build_object(
    'task_type', 'chat',
    'announce_attempt_id', v_attempt.announce_attempt_id,
    'before_handler', 'mill.get_announce_payload',
    'success_handler', 'mill.record_announce_success',
    'error_handler', 'mill.record_announce_failure');
  insert into mill.announce_attempt (announce_attempt_id, tenant_id, announce_task_id, task_id, created_at)
  values (
    v_attempt.announce_attempt_id, v_task.tenant_id, v_task_id,
    queues.enqueue('chat', v_channel_payload, _tenant_id => v_task.tenant_id), internal.clock());
  return internal.progress('attempted', jsonb_build_object(
    'announce_attempt_id', v_attempt.announce_attempt_id,
    'next_check_at', internal.next_check(v_process, v_task_id, internal.watch_after(internal.clock()))));
end;
$$;
