-- Whether an account's anonymization will not be tried again: its attempts are used up, or one failed in a way that
-- trying again cannot mend. Raises PS012.
create or replace function accounts.is_account_anonymization_stuck(_account_id uuid)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(count(*) >= internal.max_attempts() or bool_or(not f.retriable), false)
  from accounts.account_anonymization_task t
  join accounts.account_anonymization_attempt a using (account_anonymization_task_id)
  join accounts.account_anonymization_attempt_failed f using (account_anonymization_attempt_id)
  where t.tenant_id = internal.require_tenant() and t.tenant_id = _account_id
    and a.account_anonymization_attempt_id > t.restarted_after;
$$;
