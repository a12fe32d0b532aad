-- Ends a run whose chunks are all in one batch, in one call: keeps the embeddings that were made for it (ingest.keep_embeddings),
-- stages the chunks (ingest.stage_chunks) and publishes them (ingest.finish_run). The caller closes the lease in the same transaction.
-- `_new_…`: the texts that were embedded, by their hashes; the other arrays are the chunks. Returns what ingest.finish_run() returns.
-- Locks: the project's row shared, the document's row, the kept embeddings. Raises PS005, PS006, PS011, PS012, PS017.
create or replace function ingest.publish_run(
  _document_id uuid,
  _generation integer,
  _mode text,
  _content_sha256 bytea,
  _pipeline text,
  _facts jsonb,
  _code_version text,
  _model text,
  _new_sha256s bytea[],
  _new_embeddings bytea[],
  _new_token_counts integer[],
  _ordinals integer[],
  _chunk_ids uuid[],
  _texts text[],
  _token_counts integer[],
  _char_starts integer[],
  _char_ends integer[],
  _pages_from integer[],
  _pages_to integer[],
  _heading_paths jsonb,
  _sha256s bytea[],
  _embeddings text[],
  _headings jsonb,
  _title text,
  _language text
)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_document ingest.document;
begin
  perform from accounts.project p
  where p.project_id = (select d.project_id from ingest.document d where d.document_id = _document_id) for share;
  v_document := ingest.hold_run(_document_id, _generation);
  if cardinality(_new_sha256s) > 0 then
    perform ingest.keep_embeddings(_model, _new_sha256s, _new_embeddings, _new_token_counts);
  end if;
  if v_document.document_id is not null then
    perform ingest.stage_chunks(
      _document_id, _generation, _model, _ordinals, _chunk_ids, _texts, _token_counts, _char_starts, _char_ends, _pages_from,
      _pages_to, _heading_paths, _sha256s, _embeddings, _headings, _title, _language);
  end if;
  return ingest.finish_run(
    _document_id, _generation, _mode, _content_sha256, _pipeline, _facts, _code_version);
end;
$$;
