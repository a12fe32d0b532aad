-- Makes a generation of a document the one that searches find, and writes what was found in it. Runs with the rights of its
-- caller, which holds the document's row.
create or replace function ingest.put_live(
  _document_id uuid, _generation integer, _content_sha256 bytea, _pipeline text, _facts jsonb
)
returns void
language sql
as $$
  update ingest.document d set
    live_generation = _generation,
    chunk_count = (_facts #>> '{counts,chunks}')::integer,
    token_count = (_facts #>> '{counts,tokens}')::bigint,
    indexed_at = internal.clock(),
    indexed_sha256 = _content_sha256,
    indexed_pipeline = _pipeline,
    fallback_embedder = nullif(_facts ->> 'fallback', (
      select p.embedder from accounts.project p where p.project_id = d.project_id)),
    title = _facts ->> 'title',
    author = _facts ->> 'author',
    language = _facts ->> 'language',
    document_created_at = (_facts ->> 'created_at')::timestamptz,
    document_modified_at = (_facts ->> 'modified_at')::timestamptz,
    page_count = (_facts ->> 'page_count')::integer,
    parser = _facts ->> 'parser',
    warnings = array(select jsonb_array_elements_text(coalesce(_facts -> 'warnings', '[]')))
  where d.document_id = _document_id;
$$;
