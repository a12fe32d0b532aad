-- Why rows are one client: the keys that several of them have, the most common first, with up to twenty of the rows; of a join,
-- who decided it. Reads the tenant's keys once: a lookup per row, which the planner takes for cheaper before the first
-- statistics, took seconds for 10,000 rows. Runs with its caller's rights.
create or replace function ingest.client_reasons(_group_id uuid)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'key', k.kind, 'value', k.value, 'origins', k.origins, 'record_count', k.record_count, 'records', k.records,
    'decided_by', j.decided_by, 'decided_at', j.decided_at)
    order by k.record_count desc, k.kind, k.value), '[]')
  from (
    select split_part(k.key, ':', 1) as kind, substr(k.key, strpos(k.key, ':') + 1) as value,
      array_agg(distinct k.origin order by k.origin) as origins, count(*) as record_count,
      (array_agg(k.client_id order by k.client_id))[1:20] as records
    from ingest.client_member m
    join ingest.client_key k on k.client_id = m.client_id
    where m.tenant_id = internal.require_tenant() and m.group_id = _group_id
    group by k.key
    having count(*) > 1
    order by count(*) desc
    limit 50
  ) k
  left join ingest.client_join j on j.join_id = case k.kind when 'join' then k.value::uuid end;
$$;
