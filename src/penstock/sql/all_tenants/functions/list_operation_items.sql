-- What happened to each item of an operation of any tenant, for an operator. Raises PS013.
create or replace function all_tenants.list_operation_items(
  _operation_id uuid, _outcome text default null, _after bigint default null, _limit integer default 100
)
returns setof jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query select ingest.items_page(_operation_id, _outcome, _after, _limit);
end;
$$;
