-- Dead letters grouped by fingerprint, the latest first, each with its newest letter and how many died in each of the last 24
-- hours (the newest 10,001 of them). The fingerprints are found one by one along an index, at most 5,000; of these the newest
-- 500 are returned. `causes` is how many were found, 5,001 if there are more: then a newer one may be missing. Counts end at
-- 10,001. A tenant sees its own. Raises PS012.
create or replace function queues.dead_groups(_fingerprint text default null, _limit integer default 500)
returns table (
  fingerprint text, task_type text, error_code text, error_message text, letters bigint, first_at timestamptz,
  last_at timestamptz, task_id bigint, hours bigint[], causes bigint
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_tenant_id uuid := internal.scope();
  v_hour timestamptz := date_trunc('hour', internal.clock());
begin
  return query
  with recursive found (fingerprint) as (
    (select d.fingerprint from queues.dead_letter d
      where (v_tenant_id is null or d.tenant_id = v_tenant_id) and (_fingerprint is null or d.fingerprint = _fingerprint)
      order by d.fingerprint limit 1)
    union all
    select (select d.fingerprint from queues.dead_letter d
      where (v_tenant_id is null or d.tenant_id = v_tenant_id) and d.fingerprint > f.fingerprint
      order by d.fingerprint limit 1)
    from found f
    where f.fingerprint is not null and _fingerprint is null
  ),
  known as materialized (
    select n.fingerprint from found n where n.fingerprint is not null limit 5001),
  newest as materialized (
    select n.fingerprint, l.died_at, l.task_id
    from (select k.fingerprint from known k limit 5000) n
    cross join lateral (
      select d.died_at, d.task_id from queues.dead_letter d
      where (v_tenant_id is null or d.tenant_id = v_tenant_id) and d.fingerprint = n.fingerprint
      order by d.died_at desc, d.task_id desc limit 1
    ) l
    order by l.died_at desc, n.fingerprint
    limit least(_limit, 500))
  select f.fingerprint, l.task_type, l.error_code, left(split_part(l.error_message, E'\n', 1), 500), c.letters, o.died_at,
    f.died_at, f.task_id, h.hours, (select count(*) from known)
  from newest f
  cross join lateral (
    select d.task_type, d.error_code, d.error_message from queues.dead_letter d
    where (v_tenant_id is null or d.tenant_id = v_tenant_id) and d.fingerprint = f.fingerprint
      and d.died_at = f.died_at and d.task_id = f.task_id
  ) l
  cross join lateral (
    select d.died_at from queues.dead_letter d
    where (v_tenant_id is null or d.tenant_id = v_tenant_id) and d.fingerprint = f.fingerprint
    order by d.died_at, d.task_id limit 1
  ) o
  cross join lateral (
    select count(*) as letters from (
      select from queues.dead_letter d
      where (v_tenant_id is null or d.tenant_id = v_tenant_id) and d.fingerprint = f.fingerprint limit 10001
    ) d
  ) c
  cross join lateral (
    select array_agg(coalesce(n.died, 0) order by g.hour) as hours
    from generate_series(v_hour - interval '23 hours', v_hour, interval '1 hour') as g (hour)
    left join (
      select date_bin('1 hour', d.died_at, v_hour) as hour, count(*) as died
      from (
        select x.died_at from queues.dead_letter x
        where (v_tenant_id is null or x.tenant_id = v_tenant_id) and x.fingerprint = f.fingerprint
          and x.died_at >= v_hour - interval '23 hours'
        order by x.died_at desc limit 10001
      ) d group by 1
    ) n using (hour)
  ) h
  order by f.died_at desc, f.fingerprint;
end;
$$;
