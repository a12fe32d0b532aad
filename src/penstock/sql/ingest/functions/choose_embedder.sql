-- Which embedder a run uses now. While the project's own is unavailable, runs wait (`wait_seconds`), except one at a time that
-- tries it again; once it has been unavailable for _fallback_after seconds, runs use the fallback. An outage counts only while
-- runs keep confirming it: an old row says nothing about now. `is_probe`: the caller's success ends the outage of the
-- embedder it was given. Locks: the outage's row, to claim the probe.
create or replace function ingest.choose_embedder(
  _embedder text, _fallback text default null, _fallback_after double precision default null,
  out embedder text, out wait_seconds double precision, out is_probe boolean, out since timestamptz, out reason text
)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
  v_first internal.embedder_outage;
  v_second internal.embedder_outage;
begin
  embedder := _embedder;
  is_probe := false;
  select * into v_first from internal.embedder_outage o where o.embedder = _embedder;
  if v_first.embedder is null then
    return;
  end if;
  since := v_first.since;
  reason := v_first.reason;
  if _fallback is not null and _fallback <> _embedder
    and v_first.since <= v_now - make_interval(secs => coalesce(_fallback_after, 0))
    and greatest(v_first.failed_at + interval '3 minutes', v_first.retry_at) > v_now
  then
    select * into v_second from internal.embedder_outage o where o.embedder = _fallback;
    if v_second.embedder is null or ingest.claim_probe(_fallback) then
      embedder := _fallback;
      is_probe := v_second.embedder is not null;
      return;
    end if;
    v_first.retry_at := least(v_first.retry_at, v_second.retry_at);
    reason := v_second.reason;
  elsif ingest.claim_probe(_embedder) then
    is_probe := true;
    return;
  end if;
  wait_seconds := greatest(1, extract(epoch from v_first.retry_at - v_now))
    + random() * least(30, greatest(1, extract(epoch from v_now - v_first.since) / 4));
end;
$$;
