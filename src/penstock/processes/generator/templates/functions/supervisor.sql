-- Decides the next step for one {{about_words}}: finish, make another attempt, or check again later.
-- Locks: the task's row, so that two runs at the same time wait for each other; then the open root's row. Raises PS012, PS017.
create or replace function {{schema}}.{{name}}_supervisor(_payload jsonb)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_process constant text := '{{process}}';
  v_task_id bigint := internal.payload_id(_payload, '{{name}}_task_id');
  v_task {{schema}}.{{name}}_task;
  v_attempt {{schema}}.{{name}}_attempt;
  v_channel_payload jsonb;
  v_attempts integer := 0;
  v_failures integer := 0;
  v_succeeded boolean := false;
  v_failed_at timestamptz;
  v_decided jsonb;
{{supervisor_variables}}begin
  -- Input
  if v_task_id is null then
    return internal.refusal('missing_{{name}}_task_id', '{{name}}_task_id must be the number of a task');
  end if;
  select * into v_task from {{schema}}.{{name}}_task t
  where t.tenant_id = internal.require_tenant() and t.{{name}}_task_id = v_task_id
  for update;
  if not found then
    return internal.refusal('{{name}}_task_not_found', format('there is no {{name}} task %s', v_task_id));
  end if;
  if not internal.is_current_check(v_process, v_task_id, _payload) then
    return internal.progress('overtaken');
  end if;
  select * into v_attempt from {{schema}}.{{name}}_attempt a
  where a.{{name}}_task_id = v_task_id and a.{{name}}_attempt_id > v_task.restarted_after
  order by a.{{name}}_attempt_id desc limit 1;
  if found then
    v_attempts := {{schema}}.count_{{name}}_attempts(v_task_id);
    v_failures := {{schema}}.count_{{name}}_failed_attempts(v_task_id);
    v_succeeded := {{schema}}.has_{{name}}_succeeded_attempt(v_task_id);
  end if;
  if v_attempts > v_failures and not v_succeeded
    and internal.ended_silently(v_attempt.task_id, v_attempt.created_at)
  then
    perform {{error_handler}}(jsonb_build_object(
      'original_payload', jsonb_build_object('{{name}}_attempt_id', v_attempt.{{name}}_attempt_id),
      'error', 'its task ended without an outcome'));
    v_failures := v_failures + 1;
  end if;

  -- Compute
  if v_attempts > 0 then
    select f.created_at into v_failed_at
    from {{schema}}.{{name}}_attempt_failed f where f.{{name}}_attempt_id = v_attempt.{{name}}_attempt_id;
    v_decided := internal.decide(
      v_process, v_task_id, v_attempts, v_failures, v_succeeded,
      v_failures > 0 and {{schema}}.is_{{name}}_stuck(v_task.{{about_key}}), v_attempt.created_at, v_failed_at,
      {{schema}}.{{name}}_backoff(v_failures));
    if v_decided is not null then
      return v_decided;
    end if;
  end if;
{{gate}}
  -- Output
  v_attempt.{{name}}_attempt_id :=
    nextval(pg_get_serial_sequence('{{schema}}.{{name}}_attempt', '{{name}}_attempt_id'));
  v_channel_payload := jsonb_build_object(
    'task_type', '{{channel}}',
    '{{name}}_attempt_id', v_attempt.{{name}}_attempt_id,
{{more_payload}}    '{{first_key}}', '{{first_function}}',
    'success_handler', '{{success_handler}}',
    'error_handler', '{{error_handler}}');
  insert into {{schema}}.{{name}}_attempt ({{name}}_attempt_id, tenant_id, {{name}}_task_id, task_id, created_at)
  values (
    v_attempt.{{name}}_attempt_id, v_task.tenant_id, v_task_id,
    queues.enqueue('{{channel}}', v_channel_payload, {{queue_argument}}_tenant_id => v_task.tenant_id), internal.clock());
  return internal.progress('attempted', jsonb_build_object(
    '{{name}}_attempt_id', v_attempt.{{name}}_attempt_id,
    'next_check_at', internal.next_check(v_process, v_task_id, internal.watch_after(internal.clock()))));
end;
$$;
