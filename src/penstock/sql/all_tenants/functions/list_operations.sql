-- Operations of all tenants, for an operator, newest first.
create or replace function all_tenants.list_operations(
  _state text default null, _before uuid default null, _limit integer default 50
)
returns setof jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query select ingest.operations_page(_state, _before, _limit);
end;
$$;
