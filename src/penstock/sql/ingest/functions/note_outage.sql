-- Notes that an embedder did not answer, and returns after how many seconds the caller's document should try again: the time
-- the embedder asked for (an hour at most), else half of the time it has been unavailable, 5 s to 60 s. Up to a fifth is added
-- at random, so that documents do not all come at once. An outage that was not confirmed for ten minutes starts again.
-- Locks: the embedder's row.
create or replace function ingest.note_outage(_embedder text, _reason text, _retry_after double precision default null)
returns double precision
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
  v_outage internal.embedder_outage;
  v_wait double precision;
begin
  insert into internal.embedder_outage as o (embedder, since, failed_at, retry_at, failures, reason)
  values (_embedder, v_now, v_now, v_now, 0, '')
  on conflict (embedder) do update set
    since = case when greatest(o.failed_at, o.retry_at) < v_now - interval '10 minutes' then v_now else o.since end
  returning o.* into v_outage;
  v_wait := coalesce(
    least(3600, greatest(0.1, _retry_after)),
    least(60, greatest(5, extract(epoch from v_now - v_outage.since) / 2)));
  update internal.embedder_outage o set
    failed_at = v_now,
    retry_at = v_now + make_interval(secs => v_wait),
    failures = o.failures + 1,
    reason = left(_reason, 500)
  where o.embedder = _embedder;
  return v_wait * (1 + 0.2 * random());
end;
$$;
