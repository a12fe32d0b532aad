-- The tenant's operations, newest first; `_before` is the last id of the previous page. Raises PS012.
create or replace function ingest.list_operations(
  _state text default null, _before uuid default null, _limit integer default 50
)
returns setof jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.require_tenant();
  return query select ingest.operations_page(_state, _before, _limit);
end;
$$;
