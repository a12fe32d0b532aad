-- Writes what is shown of these groups: the name and industry that most of their rows have, and how many rows there are. Deletes
-- those without rows. Called by ingest.group_clients() under its lock. Runs with its caller's rights.
create or replace function ingest.describe_groups(_group_ids uuid[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
begin
  insert into ingest.client_group (group_id, tenant_id, client_name, name_key, industry, record_count, updated_at)
  select m.group_id, v_tenant_id, d.client_name, left(lower(d.client_name), 200), d.industry, d.record_count, internal.clock()
  from (select distinct g.id as group_id from unnest(_group_ids) g (id)) m
  cross join lateral (
    select mode() within group (order by c.client_name) as client_name,
      mode() within group (order by c.industry) as industry, count(*)::integer as record_count
    from ingest.client_member o
    join ingest.client_intelligence c on c.client_id = o.client_id
    where o.tenant_id = v_tenant_id and o.group_id = m.group_id
    having count(*) > 0) d
  on conflict (group_id) do update set
    client_name = excluded.client_name, name_key = excluded.name_key, industry = excluded.industry,
    record_count = excluded.record_count, updated_at = excluded.updated_at
  where (client_group.client_name, client_group.industry, client_group.record_count)
    is distinct from (excluded.client_name, excluded.industry, excluded.record_count);
  delete from ingest.client_group g
  where g.group_id = any (_group_ids)
    and not exists (select from ingest.client_member m where m.tenant_id = v_tenant_id and m.group_id = g.group_id);
end;
$$;
