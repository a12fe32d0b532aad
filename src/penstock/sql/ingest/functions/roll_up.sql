-- Writes the rows of these clients again, from all facts about them. A client has a row if its own item states a client_name.
-- Of facts with one name, `latest` keeps the newest value, `list` the newest `keep` values, and `sum` adds amounts: a number, or
-- one number per currency when there are several. `key` facts are not shown. A row that would not change is not written. Rows
-- without a source are never touched.
-- Locks: the source's facts (advisory), then client rows by external id. Raises PS012, PS013.
create or replace function ingest.roll_up(_source_id uuid, _client_external_ids text[])
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_gone uuid[];
begin
  perform ingest.lock_facts(_source_id);
  with named as materialized (
    select i.id as client_external_id, f.client_name
    from (select distinct u.id from unnest(_client_external_ids) u (id)) i
    cross join lateral (
      select btrim(c.value #>> '{}') as client_name
      from ingest.client_fact c
      where c.source_id = _source_id and c.external_id = i.id and c.name = 'client_name' and c.client_external_id = i.id
      offset 0) f
    where f.client_name <> ''
  ), stated as materialized (
    select f.*
    from named n
    cross join lateral (
      select c.client_external_id, c.name, c.rollup, c.keep, c.value, c.as_of, c.external_id
      from ingest.client_fact c
      where c.source_id = _source_id and c.client_external_id = n.client_external_id
        and c.rollup <> 'key' and c.name <> 'client_name'
      offset 0) f
  ), ordered as (
    select s.client_external_id, s.name, s.rollup, s.value,
      row_number() over newest_first as place,
      first_value(s.keep) over newest_first as keep
    from stated s
    where s.rollup in ('latest', 'list')
    window newest_first as (
      partition by s.client_external_id, s.name, s.rollup order by s.as_of desc nulls last, s.external_id desc)
  ), added as (
    select s.client_external_id, s.name, s.value ->> 'currency' as currency,
      sum((case jsonb_typeof(s.value) when 'object' then s.value ->> 'amount' else s.value #>> '{}' end)::numeric) as amount
    from stated s
    where s.rollup = 'sum'
    group by 1, 2, 3
  ), rolled as (
    select o.client_external_id, o.name, o.value
    from ordered o
    where o.rollup = 'latest' and o.place = 1
    union all
    select o.client_external_id, o.name, jsonb_agg(o.value order by o.place)
    from ordered o
    where o.rollup = 'list' and o.place <= coalesce(o.keep, o.place)
    group by 1, 2
    union all
    select a.client_external_id, a.name,
      case when count(*) = 1 then to_jsonb(min(a.amount))
      else jsonb_object_agg(coalesce(a.currency, 'unknown'), a.amount) end
    from added a
    group by 1, 2
  ), client as (
    select n.client_external_id, n.client_name,
      max(r.value #>> '{}') filter (where r.name = 'industry') as industry,
      max(r.value #>> '{}') filter (where r.name = 'summary') as summary,
      coalesce(jsonb_object_agg(r.name, r.value) filter (where r.name not in ('industry', 'summary')), '{}') as key_facts
    from named n
    left join rolled r on r.client_external_id = n.client_external_id
    group by 1, 2
  )
  insert into ingest.client_intelligence (
    client_id, tenant_id, project_id, source_id, external_id, client_name, industry, summary, key_facts,
    created_at, updated_at)
  select ingest.client_id_of(_source_id, c.client_external_id), v_tenant_id, s.project_id, _source_id,
    c.client_external_id, c.client_name, c.industry, c.summary, c.key_facts, internal.clock(), internal.clock()
  from client c
  cross join (select o.project_id from ingest.source o where o.source_id = _source_id) s
  order by c.client_external_id
  on conflict (source_id, external_id) where source_id is not null and external_id is not null do update set
    client_name = excluded.client_name, industry = excluded.industry, summary = excluded.summary,
    key_facts = excluded.key_facts, updated_at = excluded.updated_at
  where (client_intelligence.client_name, client_intelligence.industry, client_intelligence.summary,
      client_intelligence.key_facts)
    is distinct from (excluded.client_name, excluded.industry, excluded.summary, excluded.key_facts);

  v_gone := array(
    select c.client_id
    from unnest(_client_external_ids) u (id)
    cross join lateral (
      select o.client_id from ingest.client_intelligence o
      where o.source_id = _source_id and o.external_id = u.id
      offset 0) c
    where not exists (
      select from ingest.client_fact f
      where f.source_id = _source_id and f.external_id = u.id and f.client_external_id = u.id
        and f.name = 'client_name' and btrim(f.value #>> '{}') <> '')
    order by u.id);
  if cardinality(v_gone) > 0 then
    delete from ingest.client_intelligence c where c.client_id = any (v_gone);
  end if;
end;
$$;
