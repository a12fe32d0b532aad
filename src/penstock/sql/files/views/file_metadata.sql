-- What is known about each file; `deleted` once nothing of it is left in the store. Row security limits it to the
-- transaction's tenant.
create or replace view files.file_metadata as
select
  f.file_id,
  f.tenant_id,
  jsonb_build_object(
    'deleted', f.blob_path like 'removed/%',
    'deleted_at', f.deleted_at,
    'document_id', f.document_id,
    'size_bytes', f.size_bytes,
    'mime_type', f.mime_type,
    'stored_at', f.stored_at) as metadata
from files.file f;
