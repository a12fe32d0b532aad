-- Pauses a source, or lets it go on: a paused one takes nothing in. A second time changes nothing.
-- Locks: the source's row. Raises PS012, PS013, PS017.
create or replace function ingest.pause_source(_source_id uuid, _paused boolean)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform ingest.lock_source(_source_id);
  update ingest.source s set
    status = case when _paused then 'paused' else 'active' end::ingest.source_status,
    status_message = null, updated_at = internal.clock()
  where s.source_id = _source_id and (s.status = 'paused') <> _paused;
end;
$$;
