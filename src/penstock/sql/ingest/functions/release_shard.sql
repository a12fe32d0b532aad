-- Gives a shard back before its lease ends, with why and for how long its run waits. What it has staged stays for the next holder,
-- and documents it had begun were not lost: they use no attempt. False when the caller no longer holds it. Locks: the run's row if there
-- is a reason, then the shard's. Raises PS012.
create or replace function ingest.release_shard(
  _run_id uuid, _shard integer, _token integer, _reason text default null, _seconds double precision default null
)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if _reason is not null then
    perform from ingest.bulk_run r where r.tenant_id = internal.require_tenant() and r.run_id = _run_id for no key update;
  end if;
  update ingest.bulk_shard s set lease_until = null, holder = null
  where s.tenant_id = internal.require_tenant() and s.run_id = _run_id and s.shard = _shard
    and s.token = _token and s.closed_at is null;
  if not found then
    return false;
  end if;
  perform ingest.put_sweep(b.document_id, b.generation, interval '10 minutes') from ingest.bulk_document b
  where b.run_id = _run_id and b.shard = _shard and b.outcome = 'begun' and b.generation is not null;
  update ingest.bulk_document b set attempts = b.attempts - 1, generation = null
  where b.run_id = _run_id and b.shard = _shard and b.outcome = 'begun' and b.generation is not null;
  if _reason is not null then
    update ingest.bulk_run r set
      reason = left(_reason, 2000), waits_until = internal.clock() + make_interval(secs => coalesce(_seconds, 0))
    where r.run_id = _run_id and r.finished_at is null;
  end if;
  return true;
end;
$$;
