-- Creates the vector tables if pgvector was installed after the last migration, so that the next start completes the schema.
-- Raises PS021, with what a superuser has to run, while pgvector is missing. Locks: those of the tables it creates.
create or replace function all_tenants.prepare_vectors()
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regclass('ingest.chunk_vector') is null then
    -- Two workers may start at once: the second finds the tables created.
    perform pg_advisory_xact_lock(hashtextextended('make vectors', 0));
    perform ingest.create_vector_tables();
  end if;
  perform ingest.require_vectors();
end;
$$;
