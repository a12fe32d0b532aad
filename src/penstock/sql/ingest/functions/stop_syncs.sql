-- Stops what syncs of a source are wanted or running: a running one is cancelled, and can write nothing more.
-- Locks: the source's open sync and its task. Raises PS012.
create or replace function ingest.stop_syncs(_source_id uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_task_id bigint;
begin
  delete from ingest.pending_sync p where p.tenant_id = internal.require_tenant() and p.source_id = _source_id;
  update ingest.ingestion_job j set
    status = 'cancelled', error_code = 'stopped', error_message = 'the source was disconnected', next_try_at = null,
    updated_at = internal.clock(), finished_at = internal.clock()
  where j.tenant_id = internal.require_tenant() and j.source_id = _source_id and j.finished_at is null
  returning j.task_id into v_task_id;
  if queues.task_state(v_task_id) in ('ready', 'waiting', 'parked', 'running') then
    perform queues.cancel_task(v_task_id, 'its source was disconnected');
  end if;
end;
$$;
