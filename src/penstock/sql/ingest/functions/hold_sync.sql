-- The open job of a sync with its row locked. Raises PS006 when another worker continued it, or it was ended.
create or replace function ingest.hold_sync(_job_id uuid, _run integer)
returns ingest.ingestion_job
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job ingest.ingestion_job;
begin
  select * into v_job from ingest.ingestion_job j
  where j.tenant_id = internal.require_tenant() and j.job_id = _job_id for update;
  if v_job.finished_at is not null or v_job.run is distinct from _run
    or not exists (
      select from ingest.source s
      where s.source_id = v_job.source_id and s.removed_at is null and s.status not in ('paused', 'error'))
  then
    raise exception using errcode = 'PS006', detail = 'run',
      message = format('run %s of sync %s was replaced or stopped', _run, _job_id),
      hint = 'Discard the work; nothing of it was written.';
  end if;
  return v_job;
end;
$$;
