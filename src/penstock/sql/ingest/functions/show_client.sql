-- One client with its rows, the facts of each with the items that state it and when, the keys that joined the rows, and the
-- newest documents made of those items. Of a client with many rows the _limit with the most facts; the counts are of all.
-- Call ingest.group_clients() first. Raises PS012, PS013.
create or replace function ingest.show_client(_client_id uuid, _limit integer default 100)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_group_id uuid := ingest.client_group_of(_client_id);
  v_rows uuid[];
  v_client jsonb;
begin
  v_rows := array(
    select m.client_id
    from ingest.client_member m
    cross join lateral (
      select length(o.key_facts::text) as size from ingest.client_intelligence o
      where o.client_id = m.client_id
      offset 0) c
    where m.tenant_id = v_tenant_id and m.group_id = v_group_id
    order by c.size desc, m.client_id
    limit _limit);
  select jsonb_build_object(
    'client_id', g.group_id, 'name', g.client_name, 'industry', g.industry, 'record_count', g.record_count,
    'updated_at', g.updated_at,
    'summary', (
      select c.summary from unnest(v_rows) with ordinality r (id, place)
      join ingest.client_intelligence c on c.client_id = r.id
      where c.summary is not null
      order by r.place
      limit 1))
  into v_client
  from ingest.client_group g
  where g.group_id = v_group_id;

  return v_client || jsonb_build_object(
    'records', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'record_id', c.client_id, 'source_id', c.source_id, 'source', coalesce(s.kind, 'manual'), 'source_name', s.name,
        'external_id', c.external_id, 'name', c.client_name, 'industry', c.industry, 'summary', c.summary,
        'is_apart', exists (select from ingest.client_apart a where a.client_id = c.client_id),
        'updated_at', c.updated_at) order by r.place), '[]')
      from unnest(v_rows) with ordinality r (id, place)
      join ingest.client_intelligence c on c.client_id = r.id
      left join ingest.source s on s.source_id = c.source_id),
    'facts', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'name', f.key, 'value', f.value, 'record_id', c.client_id, 'source', coalesce(s.kind, 'manual'),
        'items', coalesce(t.items, '{}'), 'item_count', coalesce(t.item_count, 0),
        'as_of', coalesce(t.as_of, c.updated_at)) order by f.key, r.place), '[]')
      from unnest(v_rows) with ordinality r (id, place)
      join ingest.client_intelligence c on c.client_id = r.id
      left join ingest.source s on s.source_id = c.source_id
      cross join lateral jsonb_each(c.key_facts) f
      left join lateral (
        select o.name, (array_agg(o.external_id order by o.as_of desc nulls last, o.external_id))[1:5] as items,
          count(*) as item_count, max(o.as_of) as as_of
        from (
          select x.name, x.external_id, x.as_of from ingest.client_fact x
          where x.source_id = c.source_id and x.client_external_id = c.external_id
          offset 0) o
        group by o.name
        offset 0) t on t.name = f.key),
    'reasons', ingest.client_reasons(v_group_id),
    'documents', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'document_id', x.document_id, 'title', x.title, 'document_type', x.document_type, 'external_id', x.external_id,
        'source', x.kind, 'updated_at', x.updated_at)
        order by x.updated_at desc nulls last, x.document_id), '[]')
      from (
        select distinct d.document_id, d.title, i.document_type, i.external_id, s.kind,
          coalesce(i.source_updated_at, i.updated_at) as updated_at
        from unnest(v_rows) r (id)
        join ingest.client_intelligence c on c.client_id = r.id
        cross join lateral (
          select distinct x.external_id from ingest.client_fact x
          where x.source_id = c.source_id and x.client_external_id = c.external_id
          offset 0) f
        cross join lateral (
          select x.document_id, x.document_type, x.external_id, x.source_id, x.source_updated_at, x.updated_at
          from ingest.source_document x
          where x.source_id = c.source_id and x.external_id = f.external_id
          offset 0) i
        join ingest.document d on d.document_id = i.document_id and d.deleted_at is null
        join ingest.source s on s.source_id = i.source_id
        order by 6 desc nulls last, 1
        limit 20
      ) x));
end;
$$;
