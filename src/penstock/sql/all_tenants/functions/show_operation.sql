-- One operation of any tenant, for an operator. Raises PS013.
create or replace function all_tenants.show_operation(_operation_id uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return ingest.one_operation(_operation_id);
end;
$$;
