-- A project's gate, with its newest evaluation and what waits at it. Raises PS012, PS013.
create or replace function ingest.show_gate(_project text)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_project accounts.project := accounts.find_project(_project);
  v_gate jsonb := ingest.gate_row(v_project.project_id);
begin
  if v_gate is null then
    raise exception using errcode = 'PS013', detail = 'gate', message = format('the project %L has no gate', v_project.slug),
      hint = format('Give it one: penstock project gate set %s --questions FILE', v_project.slug);
  end if;
  return v_gate;
end;
$$;
