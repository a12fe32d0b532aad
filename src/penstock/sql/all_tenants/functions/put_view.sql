-- Saves a view for the operators of the installation. Raises PS014, PS016.
create or replace function all_tenants.put_view(_page text, _name text, _query text, _created_by text)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_answer jsonb;
begin
  perform set_config('penstock.tenant_id', internal.no_tenant()::text, true);
  v_answer := accounts.put_view(_page, _name, _query, _created_by);
  perform set_config('penstock.tenant_id', '', true);
  return v_answer;
end;
$$;
