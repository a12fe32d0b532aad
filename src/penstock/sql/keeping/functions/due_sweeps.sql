-- The generations whose time to be swept has come, oldest first: for an index outside the database, which removes its
-- own before it lets keeping.sweep_generations() remove ours.
create or replace function keeping.due_sweeps(_limit integer)
returns table (tenant_id uuid, document_id uuid, generation integer)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select s.tenant_id, s.document_id, s.generation from ingest.sweep s
  where s.due_at <= internal.clock()
  order by s.due_at
  limit _limit;
$$;
