-- An evaluation of a gate as callers see it. Runs with its caller's rights.
create or replace function ingest.evaluation_row(_evaluation ingest.gate_evaluation)
returns jsonb
language sql
stable
as $$
  select to_jsonb(_evaluation) - 'tenant_id' - 'project_id' - 'gate_version' - 'settings'
    || jsonb_build_object('project', (select p.slug from accounts.project p where p.project_id = _evaluation.project_id));
$$;
