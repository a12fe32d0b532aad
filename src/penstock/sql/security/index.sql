-- pgvector where the server has it, the tables that need it, the trigger that indexes clients, and who may call what
-- of the index. Comes before row_security.sql, which guards the tables made here.
do $vector$
declare
  v_schema name;
begin
  if not exists (select from pg_catalog.pg_extension as e where e.extname = 'vector')
    and exists (select from pg_catalog.pg_available_extensions as a where a.name = 'vector')
  then
    begin
      create extension vector;
    exception
      when insufficient_privilege or invalid_schema_name then
        null; -- ingest.require_vectors() says who may
    end;
  end if;
  select n.nspname into v_schema
  from pg_catalog.pg_extension as e
  join pg_catalog.pg_namespace as n on n.oid = e.extnamespace
  where e.extname = 'vector';
  if v_schema is not null
    and not pg_catalog.has_schema_privilege('penstock_owner', v_schema::text, 'usage')
  then
    execute format('grant usage on schema %I to penstock_owner', v_schema);
  end if;
  perform ingest.create_vector_tables();
end
$vector$;

create or replace trigger client_is_indexed
after insert or update on ingest.client_intelligence
for each row execute function ingest.index_client();

grant execute on function
  ingest.search,
  ingest.search_models,
  ingest.candidate_documents,
  ingest.query_terms,
  ingest.live_hits,
  ingest.background
to penstock_api, worker_service_user, service_role;

grant execute on function
  ingest.stage_chunks,
  ingest.chunk_weights,
  ingest.drop_generation,
  ingest.erase_chunks,
  ingest.cached_embeddings,
  ingest.keep_embeddings,
  keeping.refresh_statistics,
  keeping.sweep_generations,
  keeping.due_sweeps,
  keeping.note_marked,
  keeping.forget_embeddings,
  keeping.tend_vector_indexes
to worker_service_user;

grant execute on function
  ingest.vectors_remedy,
  keeping.prepare_vectors
to penstock_api, worker_service_user, service_role;

grant execute on function
  ingest.vector_schema,
  ingest.create_vector_tables,
  ingest.require_vectors,
  ingest.vectors_remedy,
  ingest.build_vector_index,
  ingest.drop_vector_index,
  ingest.forget_texts,
  ingest.remove_generation
to penstock_keeper;
