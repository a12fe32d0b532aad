-- One project of the tenant, by slug or id. Raises PS012, PS013.
create or replace function accounts.show_project(_project text)
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select accounts.project_row(accounts.find_project(_project));
$$;
