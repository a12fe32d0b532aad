-- The blobs that must be in the store, of every tenant, in the order of their file ids; `_after` is the last id of the
-- previous page. Files that are being removed are omitted.
create or replace function all_tenants.known_blobs(_after uuid default null, _limit integer default 1000)
returns table (file_id uuid, tenant_id uuid, document_id uuid, blob_path text, size_bytes bigint)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select f.file_id, f.tenant_id, f.document_id, f.blob_path, f.size_bytes
  from files.file f
  join ingest.document d on d.file_id = f.file_id
  where (_after is null or f.file_id > _after) and d.deleted_at is null
  order by f.file_id
  limit _limit;
$$;
