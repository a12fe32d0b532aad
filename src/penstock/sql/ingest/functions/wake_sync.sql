-- Notes that a source has something new. A sync that is wanted and has not begun covers it, so nothing is written then; nor if
-- it is noted for the sync after the running one. Otherwise the sync is enqueued, or the running one is followed by exactly one
-- more. A request that no sync has begun for a minute is enqueued again: its task may be gone. Returns whether it wrote.
-- Locks: the pending sync's row, only to write it. Raises PS012.
create or replace function ingest.wake_sync(_source_id uuid, _reason text)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_now timestamptz := internal.clock();
  v_pending record;
begin
  select p.seq, p.requested_at, j.job_id, j.pending_seq into v_pending
  from ingest.pending_sync p
  left join ingest.ingestion_job j on j.source_id = p.source_id and j.finished_at is null
  where p.tenant_id = v_tenant_id and p.source_id = _source_id;
  if found then
    if ingest.is_covered(v_pending.seq, v_pending.requested_at, v_pending.pending_seq) then
      return false;
    end if;
    -- Of several that come here at once, one writes. The end of a running sync enqueues the next one.
    -- A running full sync is not followed by another.
    update ingest.pending_sync p set
      seq = p.seq + 1, is_full = p.is_full and v_pending.job_id is null, reason = _reason, requested_at = v_now
    where p.source_id = _source_id and p.seq = v_pending.seq;
    if found then
      if v_pending.job_id is null then
        perform ingest.enqueue_sync(_source_id);
      end if;
      return true;
    end if;
  end if;
  -- If there is one by now, it was committed after this notification arrived, and its sync begins after that.
  insert into ingest.pending_sync (source_id, tenant_id, is_full, reason, requested_at)
  values (_source_id, v_tenant_id, false, _reason, v_now)
  on conflict (source_id) do nothing;
  if not found then
    return false;
  end if;
  perform ingest.enqueue_sync(_source_id);
  return true;
end;
$$;
