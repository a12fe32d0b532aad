-- Deletes the attachments that came in only with an earlier content of a document and are not in the content that its present
-- run has read. Returns how many.
-- Locks: the attachments' rows, after the document's, which the caller holds. Raises PS012.
create or replace function ingest.drop_old_attachments(_document_id uuid)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_started timestamptz;
  v_child uuid;
  v_count integer := 0;
begin
  select max(e.at) into v_started from ingest.document_event e
  where e.tenant_id = internal.require_tenant() and e.document_id = _document_id and e.event = 'started';
  for v_child in
    select c.document_id from ingest.document c
    where c.parent_document_id = _document_id and c.deleted_at is null
      and not exists (
        select from ingest.ingestion i
        where i.document_id = c.document_id
          and (i.created_at >= v_started
            or i.source_metadata ->> 'parent_document_id' is distinct from _document_id::text))
  loop
    v_count := v_count + ingest.delete_document(v_child);
  end loop;
  return v_count;
end;
$$;
