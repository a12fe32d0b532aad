-- How a source's syncs are, derived from facts: never_synced, syncing (n of about m), healthy, retrying (reason, next try),
-- needs_you (what to do), paused; `receiving` for one that others send to.
create or replace function ingest.sync_health(_source ingest.source)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job ingest.ingestion_job;
  v_last ingest.ingestion_job;
begin
  if _source.status = 'paused' then
    return jsonb_build_object('state', 'paused', 'action', 'Resume it: penstock source resume ' || _source.source_id);
  end if;
  if exists (select from internal.source_kind k where k.kind = _source.kind and k.identity <> 'item') then
    return jsonb_build_object('state', 'receiving');
  end if;
  if _source.status in ('error', 'token_refresh_failed', 'subscription_expired') then
    return jsonb_build_object('state', 'needs_you', 'reason', _source.status_message,
      'action', ingest.reconnect_action(_source));
  end if;
  select * into v_job from ingest.ingestion_job j where j.source_id = _source.source_id and j.finished_at is null;
  if v_job.status = 'waiting' and v_job.next_try_at > internal.clock() then
    return jsonb_strip_nulls(jsonb_build_object('state', 'retrying', 'reason', v_job.error_message, 'code', v_job.error_code,
      'next_try_at', v_job.next_try_at, 'seen', v_job.items_seen, 'expected', v_job.items_expected,
      'action', case v_job.error_code
        when 'over_budget' then 'Raise the tenant''s monthly_token_budget, or wait for the next month'
        when 'over_quota' then 'Raise the tenant''s quota, or delete documents' end));
  end if;
  if v_job.job_id is not null or exists (select from ingest.pending_sync p where p.source_id = _source.source_id) then
    return jsonb_strip_nulls(jsonb_build_object('state', 'syncing', 'seen', coalesce(v_job.items_seen, 0),
      'expected', v_job.items_expected, 'since', v_job.started_at));
  end if;
  if _source.status = 'provider_error' then
    return jsonb_build_object('state', 'needs_you', 'reason', _source.status_message,
      'action', 'Update Penstock, or choose another binding in the source''s settings', 'next_try_at', _source.next_sync_at);
  end if;
  select * into v_last from ingest.ingestion_job j where j.source_id = _source.source_id order by j.job_id desc limit 1;
  if v_last.status = 'failed' then
    return jsonb_strip_nulls(jsonb_build_object('state', 'retrying', 'reason', v_last.error_message, 'code', v_last.error_code,
      'next_try_at', _source.next_sync_at,
      'action', 'Try again now: penstock source sync ' || _source.source_id));
  end if;
  if _source.synced_at is null then
    return jsonb_build_object('state', 'never_synced',
      'action', 'Start a sync: penstock source sync ' || _source.source_id);
  end if;
  return jsonb_strip_nulls(jsonb_build_object('state', 'healthy', 'synced_at', _source.synced_at,
    'next_sync_at', _source.next_sync_at));
end;
$$;
