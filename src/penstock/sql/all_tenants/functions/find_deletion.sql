-- The progress of a deletion, for the holder of the token that was returned when it was requested: the account's keys no longer
-- work. It says that a part failed; which one and why is for operators (all_tenants.deletion_of). Null for an unknown token.
create or replace function all_tenants.find_deletion(_receipt_token_sha256 bytea)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid;
  v_found jsonb;
begin
  select t.tenant_id into v_tenant_id
  from accounts.account_deletion_task t where t.receipt_token_sha256 = _receipt_token_sha256;
  if not found then
    return null;
  end if;
  v_found := all_tenants.deletion_of(v_tenant_id);
  if v_found ->> 'error' is not null then
    v_found := v_found || jsonb_build_object(
      'error', 'a part could not be deleted; the operator of this installation can see which and start it again');
  end if;
  return v_found;
end;
$$;
