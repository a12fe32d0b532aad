-- The tenant's sources that a filter selects, with the state of their health: `kind`, `state`, `project`, `q` (part of the name), `ids`.
-- The list and the operations both use it, so that the same words select the same sources. Raises PS012.
create or replace function ingest.find_sources(_filter jsonb default '{}', _before timestamptz default 'infinity')
returns table (source_id uuid, tenant_id uuid, state text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select f.source_id, f.tenant_id, f.state
  from (
    select s.source_id, s.tenant_id, ingest.source_health(s) ->> 'state' as state
    from ingest.source s
    where s.tenant_id = internal.require_tenant() and s.removed_at is null and s.created_at <= _before
      and internal.in_filter(s.kind, _filter ->> 'kind')
      and (_filter ->> 'project' is null or s.project_id = (
        select p.project_id from accounts.project p where p.tenant_id = s.tenant_id and p.slug = _filter ->> 'project'))
      and (_filter ->> 'q' is null or strpos(lower(s.name), lower(_filter ->> 'q')) > 0)
      and (not _filter ? 'ids' or _filter -> 'ids' ? s.source_id::text)
  ) f
  where internal.in_filter(f.state, _filter ->> 'state');
$$;
