-- A live document of the tenant with its row locked. Raises PS012, PS013.
create or replace function ingest.lock_document(_document_id uuid)
returns ingest.document
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_document ingest.document;
begin
  select * into v_document from ingest.document d
  where d.tenant_id = internal.require_tenant() and d.document_id = _document_id and d.deleted_at is null
  for update;
  if not found then
    raise exception using errcode = 'PS013', detail = 'document_id',
      message = format('there is no document %s', _document_id),
      hint = 'Check the id; a deleted document does not come back.';
  end if;
  return v_document;
end;
$$;
