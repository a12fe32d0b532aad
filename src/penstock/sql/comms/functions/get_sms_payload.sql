-- Before handler of `sms`: the message of an attempt as the SMS channel sends it. Raises PS012.
create or replace function comms.get_sms_payload(_payload jsonb)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt_id bigint := internal.payload_id(_payload, 'send_sms_attempt_id');
  v_message comms.sms_message;
begin
  if v_attempt_id is null then
    return internal.refusal('missing_attempt_id', 'send_sms_attempt_id must be the number of an attempt');
  end if;
  select m.* into v_message
  from comms.send_sms_attempt a
  join comms.send_sms_task t using (send_sms_task_id)
  join comms.sms_message m using (sms_message_id)
  where a.tenant_id = internal.require_tenant() and a.send_sms_attempt_id = v_attempt_id;
  if not found then
    return internal.refusal('attempt_not_found', format('there is no send_sms attempt %s', v_attempt_id));
  end if;
  return jsonb_build_object(
    'status', 'succeeded',
    'payload', to_jsonb(v_message) - array['sms_message_id', 'tenant_id', 'created_at']);
end;
$$;
