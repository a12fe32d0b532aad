-- Where the original of a live document is stored; of a record, its text (`text`) instead of a `blob_path`.
-- Raises PS012, PS013.
create or replace function ingest.content_of(_document_id uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found jsonb;
begin
  select jsonb_build_object('blob_path', f.blob_path, 'size_bytes', d.size_bytes, 'mime_type', d.mime_type,
    'filename', d.filename, 'content_sha256', encode(d.content_sha256, 'hex'), 'text', s.text) into v_found
  from ingest.document d
  left join files.file f on f.file_id = d.file_id
  left join ingest.source_document s
    on d.file_id is null and s.source_id = d.source_id and s.external_id = d.external_id
  where d.tenant_id = internal.require_tenant() and d.document_id = _document_id and d.deleted_at is null;
  if not found then
    raise exception using errcode = 'PS013', detail = 'document_id',
      message = format('there is no document %s', _document_id),
      hint = 'Check the id; a deleted document does not come back.';
  end if;
  return v_found;
end;
$$;
