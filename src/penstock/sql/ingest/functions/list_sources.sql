-- The tenant's sources, the oldest first; those that were removed are not among them. Raises PS012.
create or replace function ingest.list_sources()
returns setof jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'source_id', s.source_id, 'kind', s.kind, 'name', s.name, 'project', p.slug, 'status', s.status,
    'status_message', s.status_message, 'created_at', s.created_at, 'updated_at', s.updated_at)
  from ingest.source s
  join accounts.project p on p.project_id = s.project_id
  where s.tenant_id = internal.require_tenant() and s.removed_at is null
  order by s.source_id;
$$;
