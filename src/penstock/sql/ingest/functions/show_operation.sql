-- One operation of the tenant. Raises PS012, PS013.
create or replace function ingest.show_operation(_operation_id uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.require_tenant();
  return ingest.one_operation(_operation_id);
end;
$$;
