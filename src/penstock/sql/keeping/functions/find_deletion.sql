-- How far a deletion is, for whoever holds the token given out when it was requested: the account's keys open nothing
-- any more. Null for an unknown token.
create or replace function keeping.find_deletion(_receipt_token_sha256 bytea)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid;
begin
  select t.tenant_id into v_tenant_id
  from accounts.account_deletion_task t where t.receipt_token_sha256 = _receipt_token_sha256;
  if not found then
    return null;
  end if;
  return keeping.deletion_of(v_tenant_id);
end;
$$;
