-- The requests to process a document, newest first. Raises PS012.
create or replace function ingest.list_ingestions(_document_id uuid, _limit integer default 50)
returns setof jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select to_jsonb(i) - 'tenant_id'
  from ingest.ingestion i
  where i.tenant_id = internal.require_tenant() and i.document_id = _document_id
  order by i.ingestion_id desc
  limit least(greatest(_limit, 1), 1000);
$$;
