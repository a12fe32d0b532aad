-- The path of documents over the last hour, stage by stage: what left each stage in every minute, how much of it failed, and how
-- long nineteen of twenty documents were in it. A tenant sees its own. Raises PS012.
create or replace function all_tenants.stage_figures()
returns table (stage text, done bigint, failed bigint, per_minute double precision, p95_seconds double precision, history jsonb)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
  v_tenant_id uuid := internal.scope();
  v_end timestamptz := date_trunc('minute', internal.clock());
begin
  return query
  with seen as materialized (
    select s.* from ingest.stage_sample s
    where (v_tenant_id is null or s.tenant_id = v_tenant_id) and s.minute >= v_end - interval '60 minutes' and s.minute < v_end
  )
  select n.name, coalesce(sum(m.done), 0)::bigint, coalesce(sum(m.failed), 0)::bigint,
    coalesce(sum(m.done) filter (where m.minute >= v_end - interval '6 minutes' and m.minute < v_end - interval '1 minute'), 0)
      ::double precision / 5,
    internal.quantile(array(
      select sum(h.counted) from seen s cross join unnest(s.took) with ordinality as h (counted, n)
      where s.stage = n.name group by h.n order by h.n)::bigint[]),
    jsonb_agg(jsonb_build_object('at', m.minute, 'done', m.done, 'failed', m.failed) order by m.minute)
  from unnest(array['received', 'parsing', 'embedding', 'indexed']) with ordinality as n (name, place)
  cross join lateral (
    select g.minute, coalesce(sum(s.done), 0) as done, coalesce(sum(s.failed), 0) as failed
    from generate_series(v_end - interval '60 minutes', v_end - interval '1 minute', interval '1 minute') as g (minute)
    left join seen s on s.minute = g.minute and s.stage = n.name
    group by 1
  ) m
  group by n.name, n.place
  order by n.place;
end;
$$;
