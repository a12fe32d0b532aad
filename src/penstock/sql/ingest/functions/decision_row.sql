-- A decision as callers see it. `state` is skipped, restoring, restored or not_restored (`outcome` says why).
create or replace function ingest.decision_row(_decision ingest.decision)
returns jsonb
language sql
stable
as $$
  select to_jsonb(_decision) - 'tenant_id' || jsonb_build_object(
    'source', (select s.name from ingest.source s where s.source_id = _decision.source_id),
    'state', case
      when _decision.reversed_at is null then 'skipped'
      when _decision.outcome is null then 'restoring'
      when _decision.outcome = 'restored' then 'restored'
      else 'not_restored' end);
$$;
