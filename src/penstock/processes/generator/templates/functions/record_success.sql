-- Success handler: records, once, that the attempt succeeded, which ends the process. Raises PS012.
create or replace function {{success_handler}}(_payload jsonb)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt_id bigint := internal.payload_id(_payload -> 'original_payload', '{{name}}_attempt_id');
  v_attempt {{schema}}.{{name}}_attempt;{{success_variables}}
begin
  if v_attempt_id is null then
    return internal.refusal(
      'missing_attempt_id', 'original_payload.{{name}}_attempt_id must be the number of an attempt');
  end if;
  select * into v_attempt from {{schema}}.{{name}}_attempt a
  where a.tenant_id = internal.require_tenant() and a.{{name}}_attempt_id = v_attempt_id;
  if not found then
    return internal.refusal('attempt_not_found', format('there is no {{name}} attempt %s', v_attempt_id));
  end if;
  insert into {{schema}}.{{name}}_attempt_succeeded ({{name}}_attempt_id, tenant_id, worker_payload, created_at)
  values (v_attempt_id, v_attempt.tenant_id, coalesce(_payload -> 'worker_payload', '{}'), internal.clock())
  on conflict do nothing;
  if found then
{{success_effects}}    perform internal.end_process('{{process}}', v_attempt.{{name}}_task_id);
{{after_success}}  end if;
  return internal.progress('recorded');
end;
$$;
