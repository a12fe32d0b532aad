-- The tenant's re-indexes, newest first; `_before` is the last id of the previous page. Raises PS012.
create or replace function ingest.list_bulk(_before uuid default null, _limit integer default 50)
returns setof jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select ingest.bulk_row(r) from ingest.bulk_run r
    where r.tenant_id = internal.require_tenant() and (_before is null or r.run_id < _before)
    order by r.run_id desc
    limit least(_limit, 501);
end;
$$;
