-- Whether any attempt of this task succeeded. Raises PS012.
create or replace function accounts.has_account_anonymization_succeeded_attempt(_account_anonymization_task_id bigint)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from accounts.account_anonymization_attempt a
    join accounts.account_anonymization_attempt_succeeded s using (account_anonymization_attempt_id)
    where a.tenant_id = internal.require_tenant() and a.account_anonymization_task_id = _account_anonymization_task_id);
$$;
