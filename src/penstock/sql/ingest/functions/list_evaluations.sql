-- The evaluations of a project's gate, newest first, also those of a gate that was removed. Raises PS012, PS013.
create or replace function ingest.list_evaluations(_project text, _limit integer default 50)
returns setof jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_project accounts.project := accounts.find_project(_project);
begin
  return query
    select ingest.evaluation_row(e) from ingest.gate_evaluation e
    where e.project_id = v_project.project_id
    order by e.evaluation_id desc
    limit least(_limit, 500);
end;
$$;
