-- Removes a deleted document from the index, with the cached embeddings that no other document of the tenant uses. Returns how
-- many chunks were deleted. Locks: the rows it deletes. Raises PS011, PS012.
create or replace function ingest.erase_chunks(_document_id uuid)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
begin
  if exists (
    select from ingest.document d
    where d.tenant_id = v_tenant_id and d.document_id = _document_id and d.deleted_at is null)
  then
    raise exception using errcode = 'PS011', detail = 'document_id',
      message = format('document %s is not deleted', _document_id),
      hint = 'Delete it first; that takes it out of every search at once.';
  end if;
  perform ingest.forget_texts(v_tenant_id, _document_id, null);
  return ingest.remove_generation(v_tenant_id, _document_id, null);
end;
$$;
