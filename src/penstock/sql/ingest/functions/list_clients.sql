-- The tenant's clients by name; each is one or more rows of ingest.client_intelligence. `_query` is part of the client's name or
-- of a name in one of its sources. `_after_name` and `_after_id` are name_key and id of the last one of the previous page.
-- Call ingest.group_clients() first. Raises PS012.
create or replace function ingest.list_clients(
  _query text default null,
  _after_name text default null,
  _after_id uuid default null,
  _limit integer default 50
)
returns setof jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'client_id', g.group_id,
    'name', g.client_name,
    'name_key', g.name_key,
    'industry', g.industry,
    'record_count', g.record_count,
    'sources', (
      select coalesce(jsonb_agg(distinct coalesce(s.kind, 'manual') order by coalesce(s.kind, 'manual')), '[]')
      from ingest.client_member m
      join ingest.client_intelligence c on c.client_id = m.client_id
      left join ingest.source s on s.source_id = c.source_id
      where m.tenant_id = g.tenant_id and m.group_id = g.group_id),
    'updated_at', g.updated_at)
  from ingest.client_group g
  where g.tenant_id = internal.require_tenant()
    and (_after_name is null or (g.name_key, g.group_id) > (_after_name, _after_id))
    and (_query is null or strpos(g.name_key, lower(_query)) > 0 or exists (
      select from ingest.client_member m
      join ingest.client_intelligence c on c.client_id = m.client_id
      where m.tenant_id = g.tenant_id and m.group_id = g.group_id and strpos(lower(c.client_name), lower(_query)) > 0))
  order by g.name_key, g.group_id
  limit least(greatest(_limit, 1), 1001);
$$;
