-- How many attempts of this task failed since it was started, or started again by a person. Raises PS012.
create or replace function comms.count_send_email_failed_attempts(_send_email_task_id bigint)
returns integer
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select count(*)::integer
  from comms.send_email_task t
  join comms.send_email_attempt a using (send_email_task_id)
  join comms.send_email_attempt_failed f using (send_email_attempt_id)
  where t.tenant_id = internal.require_tenant() and t.send_email_task_id = _send_email_task_id
    and a.send_email_attempt_id > t.restarted_after;
$$;
