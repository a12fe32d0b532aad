-- Whether any attempt of this task succeeded. Raises PS012.
create or replace function comms.has_send_sms_succeeded_attempt(_send_sms_task_id bigint)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from comms.send_sms_attempt a
    join comms.send_sms_attempt_succeeded s using (send_sms_attempt_id)
    where a.tenant_id = internal.require_tenant() and a.send_sms_task_id = _send_sms_task_id);
$$;
