-- Makes the tables of vectors if pgvector came after the last migration, so that the next start finishes the job.
-- Raises PS021, with what a superuser has to run, as long as pgvector is missing. Locks: those of the tables it makes.
create or replace function keeping.prepare_vectors()
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regclass('ingest.chunk_vector') is null then
    -- Two workers that start at once: the second finds the tables made.
    perform pg_advisory_xact_lock(hashtextextended('make vectors', 0));
    perform ingest.create_vector_tables();
  end if;
  perform ingest.require_vectors();
end;
$$;
