-- Gives up what waits at a project's gate: the re-index is stopped, the project keeps its embedder, its documents stay as they are,
-- and what was staged is removed. Returns the evaluation. Locks: the run's row, the evaluation's, the project's, then
-- documents'. Raises PS011, PS012, PS013.
create or replace function ingest.cancel_gate(_project text, _by text default null)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_evaluation ingest.gate_evaluation := ingest.hold_waiting(_project);
  v_by text := left(coalesce(_by, 'unknown'), 200);
begin
  update ingest.gate_evaluation e set state = 'cancelled', waits_for = null, decided_at = internal.clock(), decided_by = v_by
  where e.evaluation_id = v_evaluation.evaluation_id
  returning * into v_evaluation;
  perform ingest.end_run(v_evaluation.run_id, 'stopped', 'cancelled at the gate by ' || v_by);
  perform ingest.drop_staged(v_evaluation.project_id);
  -- What shards have staged that are not closed yet.
  perform ingest.put_sweep(b.document_id, b.generation, interval '10 minutes') from ingest.bulk_document b
  where b.run_id = v_evaluation.run_id and b.generation is not null;
  delete from ingest.bulk_document b where b.run_id = v_evaluation.run_id and b.outcome <> 'failed';
  perform queues.note_audit('gate_cancelled', v_evaluation.project_id::text, jsonb_build_object('run_id', v_evaluation.run_id));
  return ingest.evaluation_row(v_evaluation);
end;
$$;
