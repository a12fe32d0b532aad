-- Has a message sent, once: a second call for the same message gives the task there is. What is wrong with the call
-- comes back in words, and then nothing is written. Raises PS012, PS017.
create or replace function comms.kickoff_send_sms(
  _sms_message_id bigint,
  _scheduled_at timestamptz default null,
  out validation_failure_message text,
  out send_sms_task_id bigint
)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
begin
  if _sms_message_id is null then
    validation_failure_message := 'sms_message_id is missing: give the id of a message';
    return;
  end if;
  if not exists (
    select from comms.sms_message m where m.tenant_id = v_tenant_id and m.sms_message_id = _sms_message_id)
  then
    validation_failure_message := format('there is no SMS message %s', _sms_message_id);
    return;
  end if;
  insert into comms.send_sms_task as t (tenant_id, sms_message_id, created_at)
  values (v_tenant_id, _sms_message_id, internal.clock())
  on conflict (sms_message_id) do nothing
  returning t.send_sms_task_id into send_sms_task_id;
  if send_sms_task_id is not null then
    perform internal.start_process('comms.send_sms', send_sms_task_id, _scheduled_at);
  else
    select t.send_sms_task_id into send_sms_task_id
    from comms.send_sms_task t where t.tenant_id = v_tenant_id and t.sms_message_id = _sms_message_id;
  end if;
end;
$$;
