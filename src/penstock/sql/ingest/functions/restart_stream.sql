-- Starts a stream again with a full pass, because the provider no longer knows its cursor.
-- Locks: the job's row, the stream's. Raises PS006, PS012.
create or replace function ingest.restart_stream(_job_id uuid, _run integer, _stream text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job ingest.ingestion_job := ingest.hold_sync(_job_id, _run);
begin
  update ingest.source_stream s set
    cursor = null, is_full = true, is_resumed = false, pass = s.pass + 1, job_id = _job_id, updated_at = internal.clock()
  where s.source_id = v_job.source_id and s.stream = _stream;
end;
$$;
