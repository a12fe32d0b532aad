-- Performs one attempt of {{process}}: write the work here. Its writes and the record of its success are one transaction.
-- Raising an error undoes both and the attempt counts as failed; return internal.refusal() if a retry cannot help. It
-- may run again after a crash. Raises PS012.
create or replace function {{first_function}}(_payload jsonb)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt_id bigint := internal.payload_id(_payload, '{{name}}_attempt_id');
  v_task {{schema}}.{{name}}_task;
begin
  if v_attempt_id is null then
    return internal.refusal('missing_attempt_id', '{{name}}_attempt_id must be the number of an attempt');
  end if;
  select t.* into v_task
  from {{schema}}.{{name}}_attempt a
  join {{schema}}.{{name}}_task t using ({{name}}_task_id)
  where a.tenant_id = internal.require_tenant() and a.{{name}}_attempt_id = v_attempt_id;
  if not found then
    return internal.refusal('attempt_not_found', format('there is no {{name}} attempt %s', v_attempt_id));
  end if;
  -- The work goes here; v_task.{{about_name}} is what it is about. `payload` is stored with the success.
  return jsonb_build_object('status', 'succeeded', 'payload', '{}'::jsonb);
end;
$$;
