-- The clients with this name, whatever its case, punctuation and legal form, at most ten. Call ingest.group_clients() first.
-- Raises PS012.
create or replace function ingest.find_clients(_name text)
returns setof jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'client_id', g.group_id, 'name', g.client_name, 'industry', g.industry, 'record_count', g.record_count)
  from ingest.client_group g
  where g.tenant_id = internal.require_tenant()
    and (g.name_key = left(lower(_name), 200) or exists (
      select from ingest.client_key k
      join ingest.client_member m on m.client_id = k.client_id
      where k.tenant_id = g.tenant_id and k.key = 'name:' || ingest.normal_name(_name) and m.group_id = g.group_id))
  order by g.name_key = left(lower(_name), 200) desc, g.record_count desc, g.group_id
  limit 10;
$$;
