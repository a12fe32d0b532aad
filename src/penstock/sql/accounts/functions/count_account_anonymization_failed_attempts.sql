-- How many attempts of this task failed since it was started, or started again by a person. Raises PS012.
create or replace function accounts.count_account_anonymization_failed_attempts(_account_anonymization_task_id bigint)
returns integer
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select count(*)::integer
  from accounts.account_anonymization_task t
  join accounts.account_anonymization_attempt a using (account_anonymization_task_id)
  join accounts.account_anonymization_attempt_failed f using (account_anonymization_attempt_id)
  where t.tenant_id = internal.require_tenant() and t.account_anonymization_task_id = _account_anonymization_task_id
    and a.account_anonymization_attempt_id > t.restarted_after;
$$;
