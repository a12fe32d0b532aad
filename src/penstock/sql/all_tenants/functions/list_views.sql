-- The saved views of the operators of the installation. Locks: none.
create or replace function all_tenants.list_views(_page text default null)
returns setof jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('penstock.tenant_id', internal.no_tenant()::text, true);
  return query select accounts.list_views(_page);
  perform set_config('penstock.tenant_id', '', true);
end;
$$;
