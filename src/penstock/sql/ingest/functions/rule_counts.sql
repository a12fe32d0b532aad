-- How often each rule and class of a source, or of all sources and uploads, applied to the items there are (`fired`), decided to skip
-- one (`dropped`) and was reversed by a person. Raises PS012, PS013.
create or replace function ingest.rule_counts(_source_id uuid default null)
returns table (stage smallint, name text, fired bigint, dropped bigint, reversed bigint)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
  perform ingest.require_source(_source_id);
  return query
  with decided as (
    select d.stage, d.name, count(*) as decided, count(*) filter (where d.verdict = 'drop') as dropped,
      count(*) filter (where d.reversed_at is not null) as reversed
    from ingest.decision d
    where d.tenant_id = internal.require_tenant() and (_source_id is null or d.source_id = _source_id)
    group by d.stage, d.name
  ), applied as (
    select f ->> 'rule' as name, count(*) as fired
    from ingest.source_document s
    cross join lateral jsonb_array_elements(s.raw_payload #> '{verdict,fired}') f
    where s.tenant_id = internal.require_tenant() and (_source_id is null or s.source_id = _source_id)
      and s.stream = 'mail' and jsonb_typeof(s.raw_payload #> '{verdict,fired}') = 'array'
    group by 1
  )
  select coalesce(d.stage, 1::smallint), coalesce(d.name, a.name),
    case when d.stage = 2 then d.decided else coalesce(a.fired, 0) end, coalesce(d.dropped, 0), coalesce(d.reversed, 0)
  from decided d
  full join applied a on a.name = d.name and d.stage = 1
  order by 1, 2;
end;
$$;
