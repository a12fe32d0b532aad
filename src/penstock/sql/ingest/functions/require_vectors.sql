-- The schema of pgvector; without pgvector it raises an error that says what a superuser has to run. Raises PS021.
create or replace function ingest.require_vectors()
returns text
language plpgsql
stable
as $$
declare
  v_schema text := ingest.vector_schema();
begin
  if v_schema is null or to_regclass('ingest.chunk_vector') is null then
    raise exception using errcode = 'PS021', detail = 'index',
      message = format('documents cannot be indexed: the database %I has no pgvector', current_database()),
      hint = ingest.vectors_remedy();
  end if;
  return v_schema;
end;
$$;
