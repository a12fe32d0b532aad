-- What was not kept, newest first: of one source, or of all sources and uploads. `_before` is the last id of the previous page;
-- `_reason` and `_name` (of a rule or class) filter as operations do.
-- Raises PS012, PS013.
create or replace function ingest.list_decisions(
  _source_id uuid default null,
  _before uuid default null,
  _limit integer default 50,
  _reason text default null,
  _name text default null
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
    and (_reason is null or d.skip_reason = _reason)
    and (_name is null or d.name = _name)
  order by d.decision_id desc
  limit least(greatest(_limit, 1), 1001);
end;
$$;
