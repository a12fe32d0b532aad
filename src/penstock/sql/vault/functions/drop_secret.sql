-- Removes a secret of the tenant; true when there was one. Raises PS012.
create or replace function vault.drop_secret(_secret_id uuid)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from vault.secret s where s.tenant_id = internal.require_tenant() and s.secret_id = _secret_id;
  return found;
end;
$$;
