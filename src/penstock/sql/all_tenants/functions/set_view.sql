-- Changes a view of the operators of the installation. Locks: its row. Raises PS013, PS014.
create or replace function all_tenants.set_view(_view_id uuid, _name text default null, _query text default null)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_answer jsonb;
begin
  perform set_config('penstock.tenant_id', internal.no_tenant()::text, true);
  v_answer := accounts.set_view(_view_id, _name, _query);
  perform set_config('penstock.tenant_id', '', true);
  return v_answer;
end;
$$;
