-- Changes how often a source is synced (null: only on request), its name or its configuration; null for what stays.
-- Locks: the source's row. Raises PS005, PS012, PS013, PS017.
create or replace function ingest.set_source(
  _source_id uuid,
  _name text default null,
  _sync_every interval default null,
  _only_on_request boolean default false,
  _config jsonb default null
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source ingest.source := ingest.lock_source(_source_id);
begin
  if _sync_every < interval '1 minute' then
    raise exception using errcode = 'PS005', detail = 'sync_every',
      message = 'a source is synced at most once a minute', hint = 'Use 60 seconds or more.';
  end if;
  update ingest.source s set
    name = coalesce(_name, s.name),
    config = coalesce(_config, s.config),
    sync_every = case when _only_on_request then null else coalesce(_sync_every, s.sync_every) end,
    next_sync_at = case
      when _only_on_request then null
      when _sync_every is not null and v_source.status = 'active' then internal.clock() + _sync_every
      else s.next_sync_at end,
    updated_at = internal.clock()
  where s.source_id = _source_id
  returning * into v_source;
  return ingest.source_row(v_source);
end;
$$;
