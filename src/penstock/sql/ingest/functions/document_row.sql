-- A document as callers see it.
create or replace function ingest.document_row(_document ingest.document)
returns jsonb
language sql
stable
as $$
  select jsonb_build_object(
    'document_id', _document.document_id,
    'project_id', _document.project_id,
    'project', (select p.slug from accounts.project p where p.project_id = _document.project_id),
    'status', _document.status,
    'reason_code', _document.reason_code,
    'error_message', _document.error_message,
    'title', _document.title,
    'filename', _document.filename,
    'path', _document.path,
    'mime_type', _document.mime_type,
    'size_bytes', _document.size_bytes,
    'content_sha256', encode(_document.content_sha256, 'hex'),
    'external_id', _document.external_id,
    'source_id', _document.source_id,
    'parent_document_id', _document.parent_document_id,
    'author', _document.author,
    'language', _document.language,
    'document_created_at', _document.document_created_at,
    'document_modified_at', _document.document_modified_at,
    'page_count', _document.page_count,
    'parser', _document.parser,
    'warnings', _document.warnings,
    'metadata', _document.metadata,
    'pipeline_config', _document.pipeline_config,
    'searchable', _document.live_generation > 0,
    'fallback_embedder', _document.fallback_embedder,
    'chunk_count', _document.chunk_count,
    'token_count', _document.token_count,
    'created_at', _document.created_at,
    'updated_at', _document.updated_at,
    'indexed_at', _document.indexed_at);
$$;
