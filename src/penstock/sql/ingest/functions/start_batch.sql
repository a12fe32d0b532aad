-- Parsing and chunking are done, and all chunks are in one batch: ingest.start_embedding(), what the tenant has cached of the texts
-- (ingest.cached_embeddings), and the tokens it may still have embedded (accounts.budget_left), in one call. `going` is false when
-- the document was deleted meanwhile. Locks: the document's row. Raises PS006, PS012.
create or replace function ingest.start_batch(
  _document_id uuid, _generation integer, _detail jsonb, _decision jsonb, _model text, _sha256s bytea[],
  out going boolean, out budget_left bigint, out text_sha256s bytea[], out embeddings bytea[]
)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  going := ingest.start_embedding(_document_id, _generation, _detail, _decision);
  if not going then
    return;
  end if;
  budget_left := accounts.budget_left();
  select array_agg(c.text_sha256), array_agg(c.embedding) into text_sha256s, embeddings
  from ingest.cached_embeddings(_model, _sha256s) c;
end;
$$;
