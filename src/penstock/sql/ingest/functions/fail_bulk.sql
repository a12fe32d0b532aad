-- Ends a run that its driver cannot go on with, with the reason; it can be resumed. Returns the run. Raises PS012, PS013.
create or replace function ingest.fail_bulk(_run_id uuid, _reason text)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform ingest.hold_bulk(_run_id);
  perform ingest.end_run(_run_id, 'failed', _reason);
  return ingest.explain_bulk(_run_id);
end;
$$;
