-- The tenant's clients that a filter selects, as ingest.list_clients() does: `query` is part of a name, or `ids`. The state is `own` if a
-- person wrote at least one of a client's records, `source` otherwise. Raises PS012.
create or replace function ingest.find_group_targets(_filter jsonb default '{}', _before timestamptz default 'infinity')
returns table (client_id uuid, tenant_id uuid, state text)
language sql
stable
as $$
  select g.group_id, g.tenant_id, case when r.own then 'own' else 'source' end
  from ingest.client_group g
  cross join lateral (
    select bool_or(c.source_id is null) as own, min(c.created_at) as created_at,
      bool_or(strpos(lower(c.client_name), lower(_filter ->> 'query')) > 0) as named
    from ingest.client_member m
    join ingest.client_intelligence c on c.client_id = m.client_id
    where m.tenant_id = g.tenant_id and m.group_id = g.group_id) r
  where g.tenant_id = internal.require_tenant() and coalesce(r.created_at, '-infinity') <= _before
    and (_filter ->> 'query' is null or strpos(g.name_key, lower(_filter ->> 'query')) > 0 or r.named)
    and (not _filter ? 'ids' or g.group_id = any (array(
      select i.id::uuid from jsonb_array_elements_text(_filter -> 'ids') as i (id))));
$$;
