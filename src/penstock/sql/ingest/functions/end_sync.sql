-- Ends a sync: completed, or failed with a code and a message. _source_status: what the source becomes when nothing is gained
-- by trying again soon (`error`: its user has to do something; `provider_error`: the provider changed). The request it served is
-- done, and the next sync is scheduled: a daily one in the night (UTC), spread over two hours; one that a notification caused
-- and that found nothing is repeated soon, because a provider's list of changes may lag behind its notifications.
-- _embedded: new texts of clients.
-- Locks: the source's row, the job's, the pending sync's. Raises PS006, PS012.
create or replace function ingest.end_sync(
  _job_id uuid,
  _run integer,
  _status ingest.job_status default 'completed',
  _code text default null,
  _message text default null,
  _source_status ingest.source_status default null,
  _embedded integer default 0
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
  v_source ingest.source;
  v_job ingest.ingestion_job;
begin
  select * into v_source from ingest.source s
  where s.source_id = (
    select j.source_id from ingest.ingestion_job j where j.job_id = _job_id and j.tenant_id = internal.require_tenant())
  for update;
  select * into v_job from ingest.ingestion_job j where j.job_id = _job_id for update;
  if v_source.source_id is null or v_job.finished_at is not null or v_job.run is distinct from _run then
    raise exception using errcode = 'PS006', detail = 'run',
      message = format('run %s of sync %s was replaced or stopped', _run, _job_id),
      hint = 'Discard the work; nothing of it was written.';
  end if;
  update ingest.ingestion_job j set
    status = _status, error_code = _code, error_message = left(_message, 2000), next_try_at = null, updated_at = v_now,
    texts_embedded = j.texts_embedded + _embedded, finished_at = v_now
  where j.job_id = _job_id;
  delete from ingest.pending_sync p where p.source_id = v_job.source_id and p.seq = v_job.pending_seq;
  if v_source.removed_at is not null or v_source.status = 'paused' then
    return;
  end if;
  if coalesce(_source_status, v_source.status) <> 'error'
    and exists (select from ingest.pending_sync p where p.source_id = v_job.source_id)
  then
    perform ingest.enqueue_sync(v_job.source_id);
  end if;
  update ingest.source s set
    synced_at = case when _status = 'completed' then v_now else s.synced_at end,
    status = coalesce(_source_status, case when _status = 'completed' then 'active' else s.status end),
    status_message = case
      when _source_status is not null then left(_message, 500)
      when _status = 'completed' then null
      else s.status_message end,
    next_sync_at = case
      when coalesce(_source_status, s.status) = 'error' then null
      when v_job.reason = 'push' and v_job.items_seen = 0 and _status = 'completed' then
        v_now + least(s.sync_every, interval '30 seconds')
      when s.sync_every is null then null
      when s.sync_every = interval '1 day' then
        (date_trunc('day', v_now at time zone 'UTC') + interval '1 day 1 hour'
          + make_interval(secs => abs(hashtext(s.source_id::text) % 7200))) at time zone 'UTC'
      else v_now + s.sync_every end,
    updated_at = v_now
  where s.source_id = v_job.source_id;
end;
$$;
