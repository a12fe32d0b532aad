-- Removes a project's gate with its questions; evaluations stay. What waits goes live. Returns the gate as it was. Locks: its rows.
-- Raises PS012, PS013.
create or replace function ingest.remove_gate(_project text)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_gate jsonb := ingest.show_gate(_project);
  v_project accounts.project := accounts.find_project(_project);
begin
  delete from ingest.gate g where g.project_id = v_project.project_id;
  perform queues.note_audit('gate_removed', v_project.project_id::text);
  return v_gate;
end;
$$;
