-- The same as ingest.start_operation() for an operator: on what all tenants share, or belongs to all of them. Raises PS005, PS013, PS014.
create or replace function all_tenants.start_operation(
  _action text, _filter jsonb, _expected_count bigint, _started_by text, _canary_percent integer default null
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return ingest.one_operation(ingest.put_operation(_action, _filter, _expected_count, _canary_percent, _started_by));
end;
$$;
