-- Lets what waits at a project's gate go live although its questions are answered worse, or were not asked yet: within
-- seconds, when its re-index is looked at again. Returns the evaluation. Locks: the run's row, the evaluation's. Raises PS011, PS012, PS013.
create or replace function ingest.accept_gate(_project text, _by text default null)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_evaluation ingest.gate_evaluation := ingest.hold_waiting(_project);
begin
  update ingest.gate_evaluation e set
    state = 'accepted', waits_for = null, decided_at = internal.clock(), decided_by = left(coalesce(_by, 'unknown'), 200)
  where e.evaluation_id = v_evaluation.evaluation_id
  returning * into v_evaluation;
  perform queues.note_audit('gate_accepted', v_evaluation.project_id::text, jsonb_build_object('run_id', v_evaluation.run_id));
  return ingest.evaluation_row(v_evaluation);
end;
$$;
