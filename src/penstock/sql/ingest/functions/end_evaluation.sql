-- Judges an evaluation of a gate by its figures, once: passed when the nDCG fell by no more than the gate allows. One that was
-- decided meanwhile, or whose questions have changed, stays as it is. _worse: {question, before, after}, the worst first.
-- Returns its state. Only the newest hundred of a project are kept. Locks: the evaluation's row. Raises PS012.
create or replace function ingest.end_evaluation(
  _evaluation_id uuid,
  _ndcg_before double precision,
  _ndcg_after double precision,
  _worse jsonb,
  _worse_count integer,
  _better_count integer,
  _unknown_documents text[]
)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_evaluation ingest.gate_evaluation;
begin
  update ingest.gate_evaluation e set
    state = case when _ndcg_after >= _ndcg_before - e.allowed_loss - 1e-9 then 'passed' else 'failed' end::ingest.gate_state,
    waits_for = null, ndcg_before = _ndcg_before, ndcg_after = _ndcg_after, worse = _worse, worse_count = _worse_count,
    better_count = _better_count, unknown_documents = _unknown_documents, evaluated_at = internal.clock()
  from ingest.gate g
  where e.tenant_id = internal.require_tenant() and e.evaluation_id = _evaluation_id and e.state = 'asking'
    and g.project_id = e.project_id and g.version = e.gate_version
  returning e.* into v_evaluation;
  if found then
    delete from ingest.gate_evaluation x
    where x.project_id = v_evaluation.project_id and x.evaluation_id < (
      select o.evaluation_id from ingest.gate_evaluation o
      where o.project_id = v_evaluation.project_id order by o.evaluation_id desc offset 99 limit 1);
  end if;
  return (select e.state from ingest.gate_evaluation e
    where e.tenant_id = internal.require_tenant() and e.evaluation_id = _evaluation_id);
end;
$$;
