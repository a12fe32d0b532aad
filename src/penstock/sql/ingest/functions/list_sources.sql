-- The tenant's sources with their health, oldest first, without those that were removed. Raises PS012.
create or replace function ingest.list_sources()
returns setof jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select ingest.source_row(s)
  from ingest.source s
  where s.tenant_id = internal.require_tenant() and s.removed_at is null
  order by s.source_id;
$$;
