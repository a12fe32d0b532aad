-- Ends a re-index: done, stopped or failed, with a reason. Its open shards stay as they are, so that it can be resumed. A run that
-- has ended stays as it is. Runs with its caller's rights. Locks: the run's row.
create or replace function ingest.end_run(_run_id uuid, _state ingest.bulk_state, _reason text default null)
returns void
language plpgsql
as $$
begin
  update ingest.bulk_run r set
    state = _state, reason = left(_reason, 2000), waits_until = null, finished_at = internal.clock(), updated_at = internal.clock()
  where r.run_id = _run_id and r.finished_at is null;
end;
$$;
