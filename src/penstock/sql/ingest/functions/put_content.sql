-- Replaces the content of a document, which keeps its id; the same content again is unchanged. Locks: the document's row.
-- Raises PS011, PS012, PS013, PS014, PS015, PS017.
create or replace function ingest.put_content(
  _document_id uuid,
  _ingestion_id uuid,
  _file_id uuid,
  _content_sha256 bytea,
  _size_bytes bigint,
  _mime_type text,
  _extension text,
  _code_version text,
  _filename text default null,
  _uploaded_by text default null,
  _source_metadata jsonb default '{}'
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant accounts.tenant := ingest.open_tenant(_size_bytes);
  v_document ingest.document := ingest.lock_document(_document_id);
  v_project accounts.project;
  v_replaced boolean := false;
begin
  select * into v_project from accounts.project p where p.project_id = v_document.project_id;
  if v_document.content_sha256 <> _content_sha256 then
    v_document := ingest.replace_content(
      _document_id, _file_id, _content_sha256, _size_bytes, _mime_type, _extension, _filename);
    v_replaced := true;
  end if;
  return ingest.open_ingestion(
    v_document, v_project, _ingestion_id, null, _uploaded_by, _source_metadata, _code_version, false, v_replaced, false);
end;
$$;
