-- What to ask for an evaluation of a gate: {project_id, run_id, questions}; null when there is nothing to do any more: it was
-- judged or decided, its re-index has ended, or the questions have changed, which makes another one. Raises PS012.
create or replace function ingest.begin_evaluation(_evaluation_id uuid)
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'project_id', e.project_id,
    'run_id', e.run_id,
    'questions', (
      select coalesce(jsonb_agg(jsonb_build_object('question', q.question, 'documents', q.documents) order by q.place), '[]')
      from ingest.gate_question q where q.project_id = e.project_id))
  from ingest.gate_evaluation e
  join ingest.bulk_run r on r.run_id = e.run_id and r.finished_at is null
  join ingest.gate g on g.project_id = e.project_id and g.version = e.gate_version
  where e.tenant_id = internal.require_tenant() and e.evaluation_id = _evaluation_id and e.state = 'asking';
$$;
