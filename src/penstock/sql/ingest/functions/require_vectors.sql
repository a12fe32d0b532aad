-- The schema of pgvector; refuses to go on without it. Raises PS005.
create or replace function ingest.require_vectors()
returns text
language plpgsql
stable
as $$
begin
  if ingest.vector_schema() is null or to_regclass('ingest.chunk_vector') is null then
    raise exception using errcode = 'PS005', detail = 'index',
      message = 'this Postgres server has no pgvector, so it keeps no vectors',
      hint = 'Install pgvector (create extension vector), or set PENSTOCK_INDEX=qdrant.';
  end if;
  return ingest.vector_schema();
end;
$$;
