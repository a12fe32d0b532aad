-- Whether the message will not be tried again: its attempts are used up, or one failed in a way that trying again
-- cannot mend. Raises PS012.
create or replace function comms.is_send_email_stuck(_email_message_id bigint)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(count(*) >= internal.max_attempts() or bool_or(not f.retriable), false)
  from comms.send_email_task t
  join comms.send_email_attempt a using (send_email_task_id)
  join comms.send_email_attempt_failed f using (send_email_attempt_id)
  where t.tenant_id = internal.require_tenant() and t.email_message_id = _email_message_id
    and a.send_email_attempt_id > t.restarted_after;
$$;
