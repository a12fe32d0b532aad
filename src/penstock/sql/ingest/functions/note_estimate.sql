-- Notes what a first sync will probably embed: {items, texts, tokens, files, cost}. Locks: the job's row. Raises PS006, PS012.
create or replace function ingest.note_estimate(_job_id uuid, _run integer, _estimate jsonb)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform ingest.hold_sync(_job_id, _run);
  update ingest.ingestion_job j set estimate = _estimate, updated_at = internal.clock() where j.job_id = _job_id;
end;
$$;
