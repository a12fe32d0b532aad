-- What a run of a document needs to know of it and of its project; the caller adds the mode, the generation and the embedder.
-- Runs with its caller's rights.
create or replace function ingest.job_of(_document ingest.document, _project accounts.project)
returns jsonb
language sql
stable
as $$
  select jsonb_build_object(
    'document_id', _document.document_id,
    'project_id', _project.project_id,
    'project', _project.slug,
    'text_config', coalesce(_document.pipeline_config ->> 'language', _project.text_config),
    'chunk_strategy', coalesce(_document.pipeline_config #>> '{chunking,strategy}', _project.chunk_strategy),
    'chunk_tokens', coalesce((_document.pipeline_config #>> '{chunking,size}')::integer, _project.chunk_tokens),
    'chunk_overlap', coalesce((_document.pipeline_config #>> '{chunking,overlap}')::integer, _project.chunk_overlap),
    'parser', coalesce(_document.pipeline_config ->> 'parser', 'auto'),
    'content_sha256', encode(_document.content_sha256, 'hex'),
    'size_bytes', _document.size_bytes,
    'mime_type', _document.mime_type,
    'filename', _document.filename,
    'source_id', _document.source_id,
    'is_restored', exists (
      select from ingest.decision n where n.document_id = _document.document_id and n.reversed_at is not null),
    'parent_document_id', _document.parent_document_id,
    'metadata', _document.metadata,
    'blob_path', (select f.blob_path from files.file f where f.file_id = _document.file_id),
    'text', case when _document.file_id is null then (
      select s.text from ingest.source_document s
      where s.source_id = _document.source_id and s.external_id = _document.external_id) end);
$$;
