-- How far a deletion is, for whoever holds the token given out when it was requested: the account's keys open nothing
-- any more. Which part failed, and how, is for operators (keeping.deletion_of): here it is said that one did. Null for
-- an unknown token.
create or replace function keeping.find_deletion(_receipt_token_sha256 bytea)
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
  v_found := keeping.deletion_of(v_tenant_id);
  if v_found ->> 'error' is not null then
    v_found := v_found || jsonb_build_object(
      'error', 'a part could not be deleted; the operator of this installation can see which and start it again');
  end if;
  return v_found;
end;
$$;
