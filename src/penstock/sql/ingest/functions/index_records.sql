-- Writes chunks, postings and vectors of records that fit into one chunk each; put_items() made their generations live in the
-- same transaction. Runs with the rights of its caller. Locks: none that others wait for.
create or replace function ingest.index_records(
  _project accounts.project, _records ingest.record_to_index[], _embeddings text[], _model text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with read as materialized (
    select r.*, ingest.lexemes(_project.text_config, r.text) as lexemes
    from unnest(_records) r where r.is_direct
  ), measured as materialized (
    select r.*, least(65535, (
      select coalesce(sum(greatest(1, cardinality(l.positions))), 0) from unnest(r.lexemes) l))::integer as text_length
    from read r
  ), put as (
    insert into ingest.chunk (
      tenant_id, document_id, generation, ordinal, chunk_id, project_id, text, token_count, text_length, char_start,
      char_end, heading_path, embedding_model, embedding_text_sha256)
    select _project.tenant_id, m.document_id, m.generation, 0, gen_random_uuid(), _project.project_id, m.text, m.tokens,
      m.text_length, 0, length(m.text), '{}', _model, m.sha256
    from measured m
  ), posted as (
    insert into ingest.posting (tenant_id, document_id, generation, lexeme, entries)
    select _project.tenant_id, m.document_id, m.generation, l.lexeme,
      array[(greatest(1, cardinality(l.positions))::bigint << 16) | m.text_length]
    from measured m cross join lateral unnest(m.lexemes) l
  ), configured as (
    insert into ingest.text_config_used (tenant_id, text_config)
    select distinct _project.tenant_id, _project.text_config from measured m
    where not exists (
      select from ingest.text_config_used u
      where u.tenant_id = _project.tenant_id and u.text_config = _project.text_config)
    on conflict do nothing
  )
  insert into ingest.text_move (tenant_id, chunks)
  select _project.tenant_id, count(*) from measured having count(*) > 0;
  if found then
    execute format(
      'insert into ingest.chunk_vector (tenant_id, project_id, document_id, generation, ordinal, model, embedding)
       select $1, $2, r.document_id, r.generation, 0, $3, ($4[r.n])::%s.halfvec
       from unnest($5) r where r.is_direct', ingest.require_vectors())
    using _project.tenant_id, _project.project_id, _model, _embeddings, _records;
  end if;
end;
$$;
