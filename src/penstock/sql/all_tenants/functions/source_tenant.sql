-- The tenant of a source, whosever it is; null if no committed source has this id. Only for functions of Penstock's own.
create or replace function all_tenants.source_tenant(_source_id uuid)
returns uuid
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select s.tenant_id from ingest.source s where s.source_id = _source_id;
$$;
