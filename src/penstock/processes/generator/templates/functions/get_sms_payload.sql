-- Before handler of `sms`: returns the message of an attempt in the form the SMS channel sends. Raises PS012.
create or replace function {{first_function}}(_payload jsonb)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt_id bigint := internal.payload_id(_payload, '{{name}}_attempt_id');
  v_message comms.sms_message;
begin
  if v_attempt_id is null then
    return internal.refusal('missing_attempt_id', '{{name}}_attempt_id must be the number of an attempt');
  end if;
  select m.* into v_message
  from {{schema}}.{{name}}_attempt a
  join {{schema}}.{{name}}_task t using ({{name}}_task_id)
  join comms.sms_message m using (sms_message_id)
  where a.tenant_id = internal.require_tenant() and a.{{name}}_attempt_id = v_attempt_id;
  if not found then
    return internal.refusal('attempt_not_found', format('there is no {{name}} attempt %s', v_attempt_id));
  end if;
  return jsonb_build_object(
    'status', 'succeeded',
    'payload', to_jsonb(v_message) - array['sms_message_id', 'tenant_id', 'created_at']);
end;
$$;
