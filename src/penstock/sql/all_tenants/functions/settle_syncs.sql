-- Ends syncs whose task is no longer there to end them: it died with its worker too often, or was cancelled. The next scheduled
-- sync continues. For every tenant. Returns how many. Locks: the sources and jobs it ends.
create or replace function all_tenants.settle_syncs()
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job record;
  v_count integer := 0;
  v_tenant text := current_setting('penstock.tenant_id', true);
begin
  for v_job in
    select j.tenant_id, j.job_id, j.run, j.source_id from ingest.ingestion_job j
    join ingest.source s on s.source_id = j.source_id and s.removed_at is null and s.status not in ('paused', 'error')
    where j.finished_at is null and j.updated_at < internal.clock() - interval '1 minute'
      and coalesce(queues.task_state(j.task_id), 'gone') not in ('ready', 'waiting', 'parked', 'running')
  loop
    perform set_config('penstock.tenant_id', v_job.tenant_id::text, true);
    perform ingest.end_sync(v_job.job_id, v_job.run, 'failed', 'max_retries_exceeded', 'max_retries_exceeded');
    v_count := v_count + 1;
  end loop;
  perform set_config('penstock.tenant_id', coalesce(v_tenant, ''), true);
  return v_count;
end;
$$;
