-- Starts a re-index of a project on the workers, or joins the one in progress, and returns the task that follows it.
-- Raises PS012, PS013.
create or replace function ingest.start_reindex(_project text, _embedder text default null)
returns bigint
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  select (ingest.start_bulk(_project, _embedder) ->> 'task_id')::bigint;
$$;
