-- Requests the deletion of the transaction's tenant, and no other. From now on its keys are refused and it accepts nothing; the
-- supervisor does the rest. A second call returns the existing task. If the call is invalid, it returns a message and writes
-- nothing. Locks: the tenant's row, waiting for uploads in progress. Raises PS012.
create or replace function api.request_account_deletion(
  _account_id uuid,
  _backup_retention interval default '30 days',
  _receipt_token_sha256 bytea default null,
  out validation_failure_message text,
  out account_deletion_task_id bigint
)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kickoff record;
begin
  if _account_id is null then
    validation_failure_message := 'account_id is missing: pass the id of the account';
    return;
  end if;
  if _backup_retention is null or _backup_retention < interval '0' then
    validation_failure_message := 'backup_retention must be zero or more';
    return;
  end if;
  perform from accounts.tenant t
  where t.tenant_id = internal.require_tenant() and t.tenant_id = _account_id
  for update;
  if not found then
    validation_failure_message := format('there is no account %s', _account_id);
    return;
  end if;
  insert into accounts.account_flag (tenant_id, flag, created_at)
  values (_account_id, 'deleted', internal.clock())
  on conflict do nothing;
  update accounts.tenant t set status = 'deleted', deleted_at = coalesce(t.deleted_at, internal.clock())
  where t.tenant_id = _account_id;
  update accounts.api_key k set revoked_at = internal.clock()
  where k.tenant_id = _account_id and k.revoked_at is null;
  select * into v_kickoff
  from accounts.kickoff_account_deletion(
    _account_id, _backup_retention => _backup_retention, _receipt_token_sha256 => _receipt_token_sha256);
  validation_failure_message := v_kickoff.validation_failure_message;
  account_deletion_task_id := v_kickoff.account_deletion_task_id;
end;
$$;
