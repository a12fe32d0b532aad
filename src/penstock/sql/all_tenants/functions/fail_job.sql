-- Ends the ingestion job of this id, of whichever tenant, because its message was delivered too often. Text that is no id, or
-- of a job that is over, changes nothing. For the queue's owner. Locks: the job's source, the job.
create or replace function all_tenants.fail_job(_job_id text)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job ingest.ingestion_job;
  v_tenant text := current_setting('penstock.tenant_id', true);
begin
  if _job_id is null or _job_id !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    return false;
  end if;
  select * into v_job from ingest.ingestion_job j where j.job_id = _job_id::uuid and j.finished_at is null;
  if not found then
    return false;
  end if;
  perform set_config('penstock.tenant_id', v_job.tenant_id::text, true);
  perform ingest.end_sync(v_job.job_id, v_job.run, 'failed', 'max_retries_exceeded', 'max_retries_exceeded');
  perform set_config('penstock.tenant_id', coalesce(v_tenant, ''), true);
  return true;
end;
$$;
