-- The embedder of the project that a source belongs to; null if the tenant has no such source. Raises PS012.
create or replace function ingest.source_embedder(_source_id uuid)
returns text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select p.embedder
  from ingest.source s
  join accounts.project p on p.project_id = s.project_id
  where s.tenant_id = internal.require_tenant() and s.source_id = _source_id;
$$;
