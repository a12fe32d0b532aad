-- The progress of sending a message: its state (open, succeeded, failed), how often it was tried, the last failure, and when it
-- is checked next. Null when the tenant has no such task. Raises PS012.
create or replace function comms.show_send_sms(_send_sms_task_id bigint)
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'state', case
      when comms.has_send_sms_succeeded_attempt(t.send_sms_task_id) then 'succeeded'
      when o.root_id is not null then 'open'
      else 'failed' end,
    'attempts', comms.count_send_sms_attempts(t.send_sms_task_id),
    'error_message', (
      select f.error_message
      from comms.send_sms_attempt a
      join comms.send_sms_attempt_failed f using (send_sms_attempt_id)
      where a.send_sms_task_id = t.send_sms_task_id and a.send_sms_attempt_id > t.restarted_after
      order by a.send_sms_attempt_id desc limit 1),
    'next_check_at', o.next_check_at)
  from comms.send_sms_task t
  left join internal.open_root o
    on o.process = 'comms.send_sms' and o.root_id = t.send_sms_task_id and o.tenant_id = t.tenant_id
  where t.tenant_id = internal.require_tenant() and t.send_sms_task_id = _send_sms_task_id;
$$;
