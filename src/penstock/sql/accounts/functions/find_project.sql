-- The tenant's project with this slug or id. Raises PS012, PS013.
create or replace function accounts.find_project(_project text)
returns accounts.project
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_project accounts.project;
begin
  select * into v_project from accounts.project p
  where p.tenant_id = internal.require_tenant() and p.deleted_at is null
    and (p.slug = _project or p.project_id::text = _project)
  order by p.slug = _project desc limit 1;
  if not found then
    raise exception using errcode = 'PS013', detail = 'project',
      message = format('there is no project %L', left(_project, 80)),
      hint = 'Create it first (penstock project create SLUG), or omit it to use the project "default".';
  end if;
  return v_project;
end;
$$;
