-- How a process is, by its full id: open, succeeded or failed; null if there is none. For the functions of operations.
create or replace function all_tenants.root_state(_id text)
returns text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select r.state from all_tenants.find_roots(
    jsonb_build_object('ids', jsonb_build_array(_id), 'process', split_part(_id, '/', 1)), null, 'infinity') r;
$$;
