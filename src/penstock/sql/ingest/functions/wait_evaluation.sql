-- Notes why an evaluation of a gate cannot be made now, such as an embedder that is unavailable. Locks: its row. Raises PS012.
create or replace function ingest.wait_evaluation(_evaluation_id uuid, _reason text)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  update ingest.gate_evaluation e set waits_for = left(_reason, 1000)
  where e.tenant_id = internal.require_tenant() and e.evaluation_id = _evaluation_id and e.state = 'asking';
$$;
