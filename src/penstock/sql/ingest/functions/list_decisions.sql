-- What was not kept, newest first: of one source, or of all sources and uploads. `_before` is the last id of the previous page.
-- Raises PS012, PS013.
create or replace function ingest.list_decisions(
  _source_id uuid default null, _before uuid default null, _limit integer default 50
)
returns setof jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
begin
  perform ingest.require_source(_source_id);
  return query
  select ingest.decision_row(d)
  from ingest.decision d
  where d.tenant_id = internal.require_tenant() and d.verdict = 'drop'
    and (_source_id is null or d.source_id = _source_id)
    and (_before is null or d.decision_id < _before)
  order by d.decision_id desc
  limit least(greatest(_limit, 1), 1001);
end;
$$;
