-- The tenant's projects by slug. Raises PS012.
create or replace function accounts.list_projects()
returns setof jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select accounts.project_row(p) from accounts.project p
  where p.tenant_id = internal.require_tenant() and p.deleted_at is null order by p.slug;
$$;
