-- The tenant's run with its row locked. Everybody locks in this order, and skips what they do not need: the project's starts
-- (ingest.start_bulk), the run, its shards, the gate's evaluation, the project, documents. Who has a later one never waits for an
-- earlier one. Not for update: closing a shard checks its foreign key, which must not wait. Runs with its
-- caller's rights. Raises PS012, PS013.
create or replace function ingest.hold_bulk(_run_id uuid)
returns ingest.bulk_run
language plpgsql
as $$
declare
  v_run ingest.bulk_run;
begin
  select * into v_run from ingest.bulk_run r
  where r.tenant_id = internal.require_tenant() and r.run_id = _run_id for no key update;
  if not found then
    raise exception using errcode = 'PS013', detail = 'run_id', message = format('there is no re-index %s', _run_id),
      hint = 'List them: penstock reindex status. They are kept for 30 days. A node of an engine needs the same PENSTOCK_DATABASE_URL.';
  end if;
  return v_run;
end;
$$;
