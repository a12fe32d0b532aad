-- The blobs of a document that are not removed yet: all of a deleted one's, the replaced ones of a live one.
-- Raises PS012.
create or replace function ingest.blobs_of(_document_id uuid)
returns table (file_id uuid, blob_path text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select f.file_id, f.blob_path
  from files.file f
  join ingest.document d on d.document_id = f.document_id
  where f.tenant_id = internal.require_tenant() and f.document_id = _document_id
    and (d.deleted_at is not null or f.file_id <> d.file_id)
    and f.blob_path not like 'removed/%';
$$;
