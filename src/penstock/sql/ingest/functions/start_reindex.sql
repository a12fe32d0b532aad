-- Starts a re-index of a project on the workers, or joins the one in progress, and returns the task that follows it.
-- Raises PS012, PS013.
create or replace function ingest.start_reindex(_project text, _embedder text default null)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run jsonb := ingest.start_bulk(_project, _embedder);
begin
  if v_run ->> 'task_id' is null then
    -- Another engine drives it: this task only helps.
    v_run := ingest.resume_bulk((v_run ->> 'run_id')::uuid, 'queue');
  end if;
  return (v_run ->> 'task_id')::bigint;
end;
$$;
