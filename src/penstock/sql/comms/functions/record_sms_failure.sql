-- Error handler of `sms`: the attempt failed. Writes the fact once, unless it succeeded after all, and wakes the
-- supervisor. What trying again cannot mend is marked so. Raises PS012.
create or replace function comms.record_sms_failure(_payload jsonb)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt_id bigint := internal.payload_id(_payload -> 'original_payload', 'send_sms_attempt_id');
  v_attempt comms.send_sms_attempt;
begin
  if v_attempt_id is null then
    return internal.refusal('missing_attempt_id', 'original_payload.send_sms_attempt_id must be the number of an attempt');
  end if;
  select * into v_attempt from comms.send_sms_attempt a
  where a.tenant_id = internal.require_tenant() and a.send_sms_attempt_id = v_attempt_id;
  if not found then
    return internal.refusal('attempt_not_found', format('there is no send_sms attempt %s', v_attempt_id));
  end if;
  insert into comms.send_sms_attempt_failed (send_sms_attempt_id, tenant_id, error_message, retriable, created_at)
  select v_attempt_id, v_attempt.tenant_id, internal.error_of(_payload), internal.is_retriable(_payload), internal.clock()
  where not exists (
    select from comms.send_sms_attempt_succeeded s where s.send_sms_attempt_id = v_attempt_id)
  on conflict do nothing;
  if found then
    perform internal.next_check('comms.send_sms', v_attempt.send_sms_task_id);
  end if;
  return internal.progress('recorded');
end;
$$;
