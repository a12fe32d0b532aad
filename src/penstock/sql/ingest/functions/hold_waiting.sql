-- The newest evaluation of the re-index that waits at a project's gate, with the run's row and its own locked. Runs with its
-- caller's rights. Raises PS011 if nothing waits, PS012, PS013.
create or replace function ingest.hold_waiting(_project text)
returns ingest.gate_evaluation
language plpgsql
as $$
declare
  v_project accounts.project := accounts.find_project(_project);
  v_evaluation ingest.gate_evaluation;
begin
  perform from ingest.bulk_run r where r.project_id = v_project.project_id and r.finished_at is null for no key update;
  select * into v_evaluation from ingest.gate_evaluation e
  where e.project_id = v_project.project_id order by e.evaluation_id desc limit 1 for update;
  if ingest.gate_row(v_project.project_id) ->> 'waiting' is null then
    raise exception using errcode = 'PS011', detail = 'project',
      message = format('nothing waits at the gate of the project %L', v_project.slug),
      hint = format('To see its state: penstock project gate show %s', v_project.slug);
  end if;
  return v_evaluation;
end;
$$;
