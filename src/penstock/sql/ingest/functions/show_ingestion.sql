-- One ingestion of the tenant, with its document. Raises PS012, PS013.
create or replace function ingest.show_ingestion(_ingestion_id uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found jsonb;
begin
  select to_jsonb(i) - 'tenant_id' || jsonb_build_object('document', ingest.document_row(d)) into v_found
  from ingest.ingestion i
  join ingest.document d on d.document_id = i.document_id
  where i.tenant_id = internal.require_tenant() and i.ingestion_id = _ingestion_id;
  if not found then
    raise exception using errcode = 'PS013', detail = 'ingestion_id',
      message = format('there is no ingestion %s', _ingestion_id), hint = 'Check the id.';
  end if;
  return v_found;
end;
$$;
