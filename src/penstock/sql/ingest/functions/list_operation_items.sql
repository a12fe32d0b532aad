-- What happened to each item of an operation of the tenant. Raises PS012, PS013.
create or replace function ingest.list_operation_items(
  _operation_id uuid, _outcome text default null, _after bigint default null, _limit integer default 100
)
returns setof jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.require_tenant();
  return query select ingest.items_page(_operation_id, _outcome, _after, _limit);
end;
$$;
