-- Whether an account's deletion ended with a failure; requesting it again starts it again. Raises PS012.
create or replace function accounts.is_account_deletion_stuck(_account_id uuid)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from accounts.account_deletion_task t
    join accounts.account_deletion_attempt a using (account_deletion_task_id)
    join accounts.account_deletion_attempt_failed f using (account_deletion_attempt_id)
    where t.tenant_id = internal.require_tenant() and t.tenant_id = _account_id
      and a.account_deletion_attempt_id > t.restarted_after);
$$;
