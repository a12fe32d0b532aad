-- Those of these names that no document of a project has: as its id, its path, the end of its path, or its file name. Raises PS012.
create or replace function ingest.unknown_documents(_project_id uuid, _names text[])
returns text[]
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select array(
    select n.name from unnest(_names) with ordinality as n (name, place)
    where not exists (
      select from ingest.document d
      where d.tenant_id = internal.require_tenant() and d.project_id = _project_id and d.deleted_at is null
        and (n.name in (d.document_id::text, d.path, d.filename) or right(d.path, length(n.name) + 1) = '/' || n.name))
    order by n.place);
$$;
