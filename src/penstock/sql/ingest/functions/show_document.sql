-- One live document of the tenant. Raises PS012, PS013.
create or replace function ingest.show_document(_document_id uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_document ingest.document;
begin
  select * into v_document from ingest.document d
  where d.tenant_id = internal.require_tenant() and d.document_id = _document_id and d.deleted_at is null;
  if not found then
    raise exception using errcode = 'PS013', detail = 'document_id',
      message = format('there is no document %s', _document_id),
      hint = 'Check the id; a deleted document does not come back.';
  end if;
  return ingest.document_row(v_document);
end;
$$;
