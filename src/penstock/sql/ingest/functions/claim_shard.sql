-- Claims a shard for some seconds and raises its token, which fences every later call. A shard that another holder has is refused
-- until its lease ends; the same holder may claim again, because its engine knows that its first run is gone. Returns `state`:
-- claimed with the token; closed; ended (the run); held or waits (its embedder is unavailable) with `seconds`.
-- Locks: the shard's row, the embedder's outage; the run's row only if nobody else has it. Raises PS012, PS013.
create or replace function ingest.claim_shard(
  _run_id uuid, _shard integer, _holder text, _lease_seconds double precision default 60
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
  v_run ingest.bulk_run;
  v_shard ingest.bulk_shard;
  v_chosen record;
begin
  select * into v_run from ingest.bulk_run r where r.tenant_id = internal.require_tenant() and r.run_id = _run_id;
  select * into v_shard from ingest.bulk_shard s
  where s.tenant_id = v_run.tenant_id and s.run_id = _run_id and s.shard = _shard for update;
  if not found then
    raise exception using errcode = 'PS013', detail = 'shard', message = format('there is no shard %s of re-index %s', _shard, _run_id),
      hint = 'Check both, and that this process uses the database that the run was started in.';
  end if;
  if v_shard.closed_at is not null then
    return jsonb_build_object('state', 'closed');
  elsif v_run.finished_at is not null then
    return jsonb_build_object('state', 'ended');
  elsif v_shard.lease_until > v_now and v_shard.holder is distinct from _holder then
    return jsonb_build_object('state', 'held', 'seconds', 1 + extract(epoch from v_shard.lease_until - v_now));
  end if;
  select * into v_chosen from ingest.choose_embedder(v_run.embedder);
  if v_chosen.wait_seconds is not null then
    -- Waiting for the run's row would be against the order of locks; the next claim notes it otherwise.
    update ingest.bulk_run r set
      reason = left(v_chosen.reason, 2000), waits_until = v_now + make_interval(secs => v_chosen.wait_seconds)
    where r.run_id = (
      select o.run_id from ingest.bulk_run o
      where o.run_id = _run_id and coalesce(o.waits_until, v_now) <= v_now for no key update skip locked);
    return jsonb_build_object('state', 'waits', 'seconds', v_chosen.wait_seconds);
  end if;
  update ingest.bulk_shard s set
    token = s.token + 1, holder = left(_holder, 200), claimed_at = v_now, lease_until = v_now + make_interval(secs => _lease_seconds)
  where s.run_id = _run_id and s.shard = _shard
  returning * into v_shard;
  return jsonb_build_object(
    'state', 'claimed', 'token', v_shard.token, 'documents', v_shard.documents, 'embedder', v_run.embedder,
    'is_probe', v_chosen.is_probe);
end;
$$;
