-- Where a live document's original is. Raises PS012, PS013.
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
  select jsonb_build_object('blob_path', f.blob_path, 'size_bytes', f.size_bytes, 'mime_type', f.mime_type,
    'filename', d.filename, 'content_sha256', encode(f.content_sha256, 'hex')) into v_found
  from ingest.document d
  join files.file f on f.file_id = d.file_id
  where d.tenant_id = internal.require_tenant() and d.document_id = _document_id and d.deleted_at is null;
  if not found then
    raise exception using errcode = 'PS013', detail = 'document_id',
      message = format('there is no document %s', _document_id),
      hint = 'Check the id; a deleted document does not come back.';
  end if;
  return v_found;
end;
$$;
