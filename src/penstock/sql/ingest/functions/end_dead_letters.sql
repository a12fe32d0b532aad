-- Removes the dead letters of a document that failed before and has now been indexed. Raises PS012.
create or replace function ingest.end_dead_letters(_document_id uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from ingest.document_event e where e.document_id = _document_id and e.event = 'failed') then
    perform queues.end_dead('ingest-document', 'document_id', _document_id::text, internal.require_tenant());
  end if;
end;
$$;
