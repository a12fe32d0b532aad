-- Whether any attempt of this task succeeded. Raises PS012.
create or replace function comms.has_send_email_succeeded_attempt(_send_email_task_id bigint)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from comms.send_email_attempt a
    join comms.send_email_attempt_succeeded s using (send_email_attempt_id)
    where a.tenant_id = internal.require_tenant() and a.send_email_task_id = _send_email_task_id);
$$;
