-- Gives a document other content under a new blob, because the old one may be in use. The caller holds the document's row and
-- writes the blob before it commits. Raises PS014 when the document's identity is its content and another document has the
-- new content.
create or replace function ingest.replace_content(
  _document_id uuid,
  _file_id uuid,
  _content_sha256 bytea,
  _size_bytes bigint,
  _mime_type text,
  _extension text,
  _filename text
)
returns ingest.document
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_document ingest.document;
  v_other uuid;
begin
  select o.document_id into v_other
  from ingest.document d
  join ingest.document o on o.tenant_id = d.tenant_id and o.project_id = d.project_id
    and o.content_sha256 = _content_sha256 and o.identity = 'content' and o.deleted_at is null
    and o.document_id <> d.document_id
  where d.document_id = _document_id and d.identity = 'content';
  if found then
    raise exception using errcode = 'PS014', detail = 'content',
      message = format('document %s already has this content', v_other),
      hint = 'Use that document, or delete it first.';
  end if;
  update files.file f set deleted_at = internal.clock()
  where f.document_id = _document_id and f.deleted_at is null;
  insert into files.file (
    file_id, tenant_id, document_id, blob_path, content_sha256, size_bytes, mime_type, stored_at)
  values (
    _file_id, internal.require_tenant(), _document_id,
    coalesce(files.take_intent(_file_id), format('documents/%s.%s.%s', _document_id, _file_id, _extension)),
    _content_sha256, _size_bytes, _mime_type, internal.clock());
  begin
    update ingest.document d set
      content_sha256 = _content_sha256, size_bytes = _size_bytes, mime_type = _mime_type,
      filename = coalesce(_filename, d.filename), file_id = _file_id, updated_at = internal.clock()
    where d.document_id = _document_id
    returning * into v_document;
  exception
    when unique_violation then
      raise exception using errcode = 'PS014', detail = 'content',
        message = 'another document with this content was added at the same moment',
        hint = 'Use that document, or delete it first.';
  end;
  return v_document;
end;
$$;
