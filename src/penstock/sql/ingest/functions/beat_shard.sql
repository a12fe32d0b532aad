-- Extends the lease of a shard. False when the caller no longer holds it or the run was stopped: it should stop working.
-- Locks: the shard's row. Raises PS012.
create or replace function ingest.beat_shard(
  _run_id uuid, _shard integer, _token integer, _lease_seconds double precision default 60
)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update ingest.bulk_shard s set lease_until = internal.clock() + make_interval(secs => _lease_seconds)
  where s.tenant_id = internal.require_tenant() and s.run_id = _run_id and s.shard = _shard
    and s.token = _token and s.closed_at is null
    and exists (select from ingest.bulk_run r where r.run_id = _run_id and r.finished_at is null);
  return found;
end;
$$;
