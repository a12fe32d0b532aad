-- Failed documents grouped by the fingerprint of their error, the latest first, each with its newest document and how many
-- failed in each of the last 24 hours (the newest 10,001 of them). The fingerprints are found one by one along an index, at
-- most 5,000; of these the newest 500 are returned. `causes` is how many were found, 5,001 if there are more: then a newer one
-- may be missing. Counts end at 10,001. A tenant sees its own. Raises PS012.
create or replace function all_tenants.failed_groups(_fingerprint text default null, _limit integer default 500)
returns table (
  fingerprint text, reason_code text, error_message text, documents bigint, first_at timestamptz, last_at timestamptz,
  document_id uuid, hours bigint[], causes bigint
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
  v_tenant_id uuid := internal.scope();
  v_hour timestamptz := date_trunc('hour', internal.clock());
begin
  return query
  with recursive found (fingerprint) as (
    (select d.fingerprint from ingest.document d
      where (v_tenant_id is null or d.tenant_id = v_tenant_id) and d.status = 'failed' and d.deleted_at is null
        and (_fingerprint is null or d.fingerprint = _fingerprint)
      order by d.fingerprint limit 1)
    union all
    select (select d.fingerprint from ingest.document d
      where (v_tenant_id is null or d.tenant_id = v_tenant_id) and d.status = 'failed' and d.deleted_at is null
        and d.fingerprint > f.fingerprint
      order by d.fingerprint limit 1)
    from found f
    where f.fingerprint is not null and _fingerprint is null
  ),
  known as materialized (
    select n.fingerprint from found n where n.fingerprint is not null limit 5001),
  newest as materialized (
    select n.fingerprint, l.updated_at, l.document_id
    from (select k.fingerprint from known k limit 5000) n
    cross join lateral (
      select d.updated_at, d.document_id from ingest.document d
      where (v_tenant_id is null or d.tenant_id = v_tenant_id) and d.status = 'failed' and d.deleted_at is null
        and d.fingerprint = n.fingerprint
      order by d.updated_at desc, d.document_id desc limit 1
    ) l
    order by l.updated_at desc, n.fingerprint
    limit least(_limit, 500))
  select f.fingerprint, l.reason_code, left(split_part(l.error_message, E'\n', 1), 500), c.documents, o.updated_at,
    f.updated_at, f.document_id, h.hours, (select count(*) from known)
  from newest f
  cross join lateral (
    select d.reason_code, d.error_message from ingest.document d where d.document_id = f.document_id
  ) l
  cross join lateral (
    select d.updated_at from ingest.document d
    where (v_tenant_id is null or d.tenant_id = v_tenant_id) and d.status = 'failed' and d.deleted_at is null
      and d.fingerprint = f.fingerprint
    order by d.updated_at, d.document_id limit 1
  ) o
  cross join lateral (
    select count(*) as documents from (
      select from ingest.document d
      where (v_tenant_id is null or d.tenant_id = v_tenant_id) and d.status = 'failed' and d.deleted_at is null
        and d.fingerprint = f.fingerprint limit 10001
    ) d
  ) c
  cross join lateral (
    select array_agg(coalesce(n.failed, 0) order by g.hour) as hours
    from generate_series(v_hour - interval '23 hours', v_hour, interval '1 hour') as g (hour)
    left join (
      select date_bin('1 hour', d.updated_at, v_hour) as hour, count(*) as failed
      from (
        select x.updated_at from ingest.document x
        where (v_tenant_id is null or x.tenant_id = v_tenant_id) and x.status = 'failed' and x.deleted_at is null
          and x.fingerprint = f.fingerprint and x.updated_at >= v_hour - interval '23 hours'
        order by x.updated_at desc limit 10001
      ) d group by 1
    ) n using (hour)
  ) h
  order by f.updated_at desc, f.fingerprint;
end;
$$;
