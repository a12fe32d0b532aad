-- Deletes a view of the operators of the installation. Locks: its row. Raises PS013.
create or replace function all_tenants.delete_view(_view_id uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('penstock.tenant_id', internal.no_tenant()::text, true);
  perform accounts.delete_view(_view_id);
  perform set_config('penstock.tenant_id', '', true);
end;
$$;
