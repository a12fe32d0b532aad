-- Stops a run for a person. Shards that are closed stay published, what others have staged waits for a resume; a project that was
-- switching keeps its embedder. Returns the run. Locks: the run's row. Raises PS012, PS013.
create or replace function ingest.stop_bulk(_run_id uuid, _stopped_by text default null)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform ingest.hold_bulk(_run_id);
  perform ingest.end_run(_run_id, 'stopped', 'stopped by ' || coalesce(left(_stopped_by, 200), 'a person'));
  return ingest.explain_bulk(_run_id);
end;
$$;
