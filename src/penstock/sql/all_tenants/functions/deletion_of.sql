-- The deletion of one account, by its id: an anonymized account has no other name. For operators, and for find_deletion().
create or replace function all_tenants.deletion_of(_tenant_id uuid)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant text := current_setting('penstock.tenant_id', true);
  v_found jsonb;
begin
  perform set_config('penstock.tenant_id', _tenant_id::text, true);
  v_found := accounts.show_deletion();
  perform set_config('penstock.tenant_id', coalesce(v_tenant, ''), true);
  return v_found;
end;
$$;
