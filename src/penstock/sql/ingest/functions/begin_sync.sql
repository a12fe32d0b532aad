-- Begins or continues a sync of a source, for one worker: `run` fences everything it writes. `mode` says what to do: sync, or
-- nothing (done: no sync is wanted; stopped: the source is paused, removed or needs its user). A pending request becomes the
-- sync's; a full one restarts every stream. A sync that lost its worker five times without a checkpoint in between has failed: it
-- may be what kills them. Locks: the source's row, its open job. Raises PS012.
create or replace function ingest.begin_sync(_source_id uuid, _task_id bigint)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
  v_source ingest.source;
  v_project accounts.project;
  v_pending ingest.pending_sync;
  v_job ingest.ingestion_job;
  v_last_code text;
begin
  select * into v_source from ingest.source s
  where s.tenant_id = internal.require_tenant() and s.source_id = _source_id for update;
  select * into v_project from accounts.project p where p.project_id = v_source.project_id;
  if v_source.source_id is null or v_source.removed_at is not null or v_source.status in ('paused', 'error')
    or v_project.deleted_at is not null
  then
    with stopped as (
      update ingest.ingestion_job j set
        status = 'cancelled', error_code = 'stopped', error_message = 'the source was paused, disconnected or removed',
        next_try_at = null, updated_at = v_now, finished_at = v_now
      where j.source_id = _source_id and j.finished_at is null
      returning j.kind
    )
    update ingest.pending_sync p set is_full = true
    where p.source_id = _source_id and exists (select from stopped s where s.kind = 'full_sync');
    return jsonb_build_object('mode', 'stopped');
  end if;
  select * into v_pending from ingest.pending_sync p where p.source_id = _source_id for update;
  select * into v_job from ingest.ingestion_job j where j.source_id = _source_id and j.finished_at is null for update;
  if v_job.job_id is not null then
    v_last_code := v_job.error_code;
    -- A run that ended by itself is waiting; one that is still running was lost, or had its turn.
    if v_job.status = 'running' and v_job.lost_runs >= 4 then
      perform ingest.end_sync(v_job.job_id, v_job.run, 'failed', 'max_retries_exceeded', 'max_retries_exceeded');
      return jsonb_build_object('mode', 'stopped');
    end if;
    update ingest.ingestion_job j set
      lost_runs = j.lost_runs + (j.status = 'running')::integer,
      run = j.run + 1, status = 'running', task_id = _task_id, error_code = null, error_message = null, next_try_at = null,
      updated_at = v_now
    where j.job_id = v_job.job_id returning * into v_job;
  elsif v_pending.source_id is null then
    return jsonb_build_object('mode', 'done');
  else
    insert into ingest.ingestion_job (
      job_id, tenant_id, source_id, kind, reason, status, pending_seq, task_id, started_at, updated_at)
    values (
      internal.uuid7(), v_source.tenant_id, _source_id,
      case when v_pending.is_full or v_source.synced_at is null then 'full_sync' else 'delta_sync' end,
      v_pending.reason, 'running', v_pending.seq, _task_id, v_now, v_now)
    returning * into v_job;
  end if;
  return jsonb_build_object(
    'mode', 'sync', 'job_id', v_job.job_id, 'run', v_job.run, 'is_full', v_job.kind = 'full_sync',
    'kind', v_source.kind, 'name', v_source.name, 'account', v_source.account, 'config', v_source.config,
    'is_untouched', v_source.synced_at is null and v_job.items_seen = 0, 'estimated_tokens', v_job.estimate -> 'tokens',
    'has_token', v_source.access_token_vault_id is not null, 'password_id', v_source.secret_ids[1], 'last_code', v_last_code,
    'project_id', v_project.project_id, 'embedder', v_project.embedder, 'chunk_tokens', v_project.chunk_tokens);
end;
$$;
