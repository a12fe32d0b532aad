-- Whether what is staged for a project may go live: it has no gate, or its questions were answered as well as before, or somebody
-- accepted it, or the gate only warns and the questions were asked. Otherwise sees that a task asks them, once for each
-- version of the questions and of what is staged. Runs with its caller's rights. Locks: the gate's row shared.
create or replace function ingest.ask_gate(_project accounts.project, _run ingest.bulk_run, _code_version text)
returns boolean
language plpgsql
as $$
declare
  v_gate ingest.gate;
  v_evaluation ingest.gate_evaluation;
begin
  select * into v_gate from ingest.gate g where g.project_id = _project.project_id for share;
  if not found then
    return true;
  elsif _run.run_id is null then
    return false; -- only a re-index is judged
  end if;
  insert into ingest.gate_evaluation (
    evaluation_id, tenant_id, project_id, run_id, gate_version, settings, from_embedder, to_embedder, mode, allowed_loss,
    questions, created_at)
  values (
    internal.uuid7(), _project.tenant_id, _project.project_id, _run.run_id, v_gate.version,
    ingest.pipeline_of(_project, _run.embedder, null, _code_version), _project.embedder,
    coalesce(_project.next_embedder, _project.embedder), v_gate.mode, v_gate.allowed_loss,
    (select count(*) from ingest.gate_question q where q.project_id = _project.project_id), internal.clock())
  on conflict (run_id, gate_version, settings) do nothing;
  select * into v_evaluation from ingest.gate_evaluation e
  where e.run_id = _run.run_id and e.gate_version = v_gate.version
    and e.settings = ingest.pipeline_of(_project, _run.embedder, null, _code_version);
  if v_evaluation.state = 'asking'
    and (v_evaluation.task_id is null
      or not queues.is_open(v_evaluation.task_id) and queues.task_state(v_evaluation.task_id) is distinct from 'dead')
  then
    update ingest.gate_evaluation e set task_id = queues.enqueue(
      _task_type => 'evaluate-gate',
      _payload => jsonb_build_object('evaluation_id', e.evaluation_id),
      _tenant_id => e.tenant_id,
      _unique_key => e.evaluation_id::text,
      _on_duplicate => 'coalesce')
    where e.evaluation_id = v_evaluation.evaluation_id;
  end if;
  return v_evaluation.state in ('passed', 'accepted') or v_evaluation.state = 'failed' and v_gate.mode = 'warn';
end;
$$;
