-- Blobs whose content was replaced an hour ago or more and that are still in the store; no run reads them any more.
create or replace function keeping.replaced_blobs(_limit integer default 500)
returns table (tenant_id uuid, file_id uuid, blob_path text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select f.tenant_id, f.file_id, f.blob_path
  from files.file f
  join ingest.document d on d.document_id = f.document_id
  where f.deleted_at < internal.clock() - interval '1 hour' and f.blob_path not like 'removed/%'
    and d.file_id <> f.file_id
  limit _limit;
$$;
