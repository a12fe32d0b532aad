-- Whether the message will not be tried again: its attempts are used up, or one failed in a way that trying again
-- cannot mend. Raises PS012.
create or replace function comms.is_send_sms_stuck(_sms_message_id bigint)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(count(*) >= internal.max_attempts() or bool_or(not f.retriable), false)
  from comms.send_sms_task t
  join comms.send_sms_attempt a using (send_sms_task_id)
  join comms.send_sms_attempt_failed f using (send_sms_attempt_id)
  where t.tenant_id = internal.require_tenant() and t.sms_message_id = _sms_message_id
    and a.send_sms_attempt_id > t.restarted_after;
$$;
