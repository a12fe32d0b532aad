-- The projects to search, by slug or id, or all of the tenant's, with the embedder of each. While a project switches its
-- embedder, some documents may already be live with the next one, so it is returned too; so are fallbacks with which documents
-- are indexed because the project's own embedder was unavailable. Raises PS012, PS013.
create or replace function search.models(_projects text[] default null)
returns table (project_id uuid, slug text, embedder text, next_embedder text, fallback_embedders text[])
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
begin
  if _projects is null then
    return query
      select p.project_id, p.slug, p.embedder, p.next_embedder, ingest.fallbacks_of(p.project_id)
      from accounts.project p
      where p.tenant_id = v_tenant_id and p.deleted_at is null order by p.slug;
  else
    return query
      select distinct p.project_id, p.slug, p.embedder, p.next_embedder, ingest.fallbacks_of(p.project_id)
      from unnest(_projects) as g (project)
      cross join lateral accounts.find_project(g.project) p;
  end if;
end;
$$;
