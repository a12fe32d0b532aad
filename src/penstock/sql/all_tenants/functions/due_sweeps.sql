-- The generations that an index outside the database has to process, oldest first: those it has not marked yet, or those it
-- marked a day ago, which it removes before all_tenants.sweep_generations() removes ours.
create or replace function all_tenants.due_sweeps(_marked boolean, _limit integer)
returns table (tenant_id uuid, document_id uuid, generation integer)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select s.tenant_id, s.document_id, s.generation from ingest.sweep s
  where case when _marked then s.marked_at <= internal.clock() - interval '24 hours' else s.marked_at is null end
  order by s.due_at
  limit _limit;
$$;
