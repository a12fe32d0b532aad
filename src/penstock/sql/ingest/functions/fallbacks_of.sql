-- The fallback embedders that live documents of a project are indexed with. Raises PS012.
create or replace function ingest.fallbacks_of(_project_id uuid)
returns text[]
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select array(
    select distinct d.fallback_embedder from ingest.document d
    where d.tenant_id = internal.require_tenant() and d.project_id = _project_id
      and d.fallback_embedder is not null and d.deleted_at is null
    order by 1);
$$;
