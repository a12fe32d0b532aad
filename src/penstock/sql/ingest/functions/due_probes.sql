-- The unavailable embedders that are due to be tried again; the caller is the one to try them.
-- Locks: their rows, skipping those that another caller tries.
create or replace function ingest.due_probes()
returns setof text
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  with due as (
    select o.embedder from internal.embedder_outage o where o.retry_at <= internal.clock()
    order by o.embedder
    for update skip locked
  )
  update internal.embedder_outage o set retry_at = internal.clock() + interval '15 seconds'
  from due where o.embedder = due.embedder
  returning o.embedder;
$$;
