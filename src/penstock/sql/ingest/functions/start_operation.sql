-- Starts an operation of the tenant, if about as many match as the person expects. Raises PS005, PS011, PS012, PS013, PS014, PS017.
create or replace function ingest.start_operation(
  _action text, _filter jsonb, _expected_count bigint, _started_by text, _canary_percent integer default null
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform ingest.open_tenant();
  perform ingest.refuse_gated(_action, _filter);
  return ingest.one_operation(ingest.put_operation(_action, _filter, _expected_count, _canary_percent, _started_by));
end;
$$;
