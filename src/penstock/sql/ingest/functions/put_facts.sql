-- Replaces all facts of these items by the given ones, {item, client, name, value, rollup, keep, as_of}, and rolls up the
-- clients whose facts changed, those that lost a fact too. Facts that did not change cost no write. Runs in the transaction that
-- writes the items. Locks: the source's facts (advisory), then client rows by external id, then notes of changes. Raises PS005,
-- PS012, PS013.
create or replace function ingest.put_facts(_source_id uuid, _external_ids text[], _facts jsonb)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_stray text;
  v_clients text[];
  v_with_keys text[];
begin
  perform ingest.lock_facts(_source_id);
  select s.item into v_stray
  from (
    select f.item from jsonb_to_recordset(_facts) as f (item text)
    except
    select i.id from unnest(_external_ids) i (id) where i.id is not null
  ) s
  limit 1;
  if found then
    raise exception using errcode = 'PS005', detail = 'facts',
      message = format('a fact is stated by %L, which is not among the items', coalesce(v_stray, '(no item)')),
      hint = 'Pass the external id of every item that states a fact.';
  end if;

  -- `offset 0` makes the planner look up each item in the index: before the first statistics it takes reading all of the
  -- tenant's rows for cheaper.
  with given as materialized (
    select f.*
    from jsonb_to_recordset(_facts) as f (
      item text, client text, name text, value jsonb, rollup text, keep integer, as_of timestamptz)
    where f.value <> 'null'
  ), before as materialized (
    select f.*
    from (select distinct i.id from unnest(_external_ids) i (id)) i
    cross join lateral (
      select c.ctid as place, c.external_id, c.name, c.client_external_id, c.rollup, c.keep, c.value, c.as_of
      from ingest.client_fact c
      where c.source_id = _source_id and c.external_id = i.id
      offset 0) f
  ), changed as materialized (
    select g.item, g.name, g.client, b.client_external_id as client_before, 'key' in (g.rollup, b.rollup) as is_key
    from given g
    left join before b on b.external_id = g.item and b.name = g.name
    where (b.client_external_id, b.rollup, b.keep, b.value, b.as_of)
      is distinct from (g.client, g.rollup, g.keep, g.value, g.as_of)
  ), gone as (
    delete from ingest.client_fact f
    where f.ctid = any (array(
      select b.place from before b
      where not exists (select from given g where g.item = b.external_id and g.name = b.name)))
    returning f.client_external_id, f.rollup = 'key' as is_key
  ), written as (
    insert into ingest.client_fact (
      source_id, external_id, name, tenant_id, client_external_id, rollup, keep, value, as_of)
    select _source_id, g.item, g.name, v_tenant_id, g.client, g.rollup, g.keep, g.value, g.as_of
    from given g
    join changed c on c.item = g.item and c.name = g.name
    on conflict on constraint client_fact_pkey do update set
      client_external_id = excluded.client_external_id, rollup = excluded.rollup, keep = excluded.keep,
      value = excluded.value, as_of = excluded.as_of
    returning client_fact.external_id
  )
  select array_agg(distinct t.client order by t.client), array_agg(distinct t.client) filter (where t.is_key)
  into v_clients, v_with_keys
  from (
    select c.client, c.is_key from changed c
    union all
    select c.client_before, c.is_key from changed c
    union all
    select g.client_external_id, g.is_key from gone g
  ) t
  where t.client is not null;

  if v_clients is not null then
    perform ingest.roll_up(_source_id, v_clients);
  end if;
  if v_with_keys is not null then
    perform ingest.note_clients(array(
      select c.client_id from ingest.client_intelligence c
      where c.source_id = _source_id and c.external_id = any (v_with_keys)));
  end if;
end;
$$;
