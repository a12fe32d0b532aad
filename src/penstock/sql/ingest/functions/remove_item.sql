-- Removes one item that a look did not find, with its document. Returns whether it was known.
-- Locks: the item's row, the document's. Raises PS012.
create or replace function ingest.remove_item(_source_id uuid, _external_id text)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_document_id uuid;
begin
  delete from ingest.source_document d
  where d.tenant_id = internal.require_tenant() and d.source_id = _source_id and d.external_id = _external_id
  returning d.document_id into v_document_id;
  if not found then
    return false;
  end if;
  perform ingest.delete_document(d.document_id)
  from ingest.document d
  where d.document_id = v_document_id and d.deleted_at is null;
  return true;
end;
$$;
