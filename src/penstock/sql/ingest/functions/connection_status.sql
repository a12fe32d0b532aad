-- How the connection of a source to its provider is, derived from facts: token_refresh_failed (a person must connect it again),
-- provider_error (the last sync failed, or waits because the provider fails), subscription_expired (its provider does not notify
-- us any more; it is still synced by its schedule), active.
create or replace function ingest.connection_status(_source ingest.source, _push jsonb)
returns text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select case
    when _source.status in ('error', 'token_refresh_failed') then 'token_refresh_failed'
    when _source.status = 'provider_error' or (
      select j.status = 'failed' or j.status = 'waiting' and j.next_try_at > internal.clock()
        and j.error_code not in ('throttled', 'token_rejected', 'over_budget', 'over_quota')
      from ingest.ingestion_job j where j.source_id = _source.source_id order by j.job_id desc limit 1) then 'provider_error'
    when _push ->> 'state' in ('expired', 'failed') then 'subscription_expired'
    else 'active' end;
$$;
