-- Enqueues a document again; searches find the live generation until the new one replaces it. A document that is being
-- processed gets one more run. Raises PS012, PS013.
create or replace function ingest.reindex_document(_document_id uuid)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_document ingest.document := ingest.lock_document(_document_id);
begin
  if v_document.status in ('indexed', 'failed', 'skipped') then
    perform ingest.move_document(_document_id, 'pending', 'reindex');
  else
    perform ingest.note_event(_document_id, 'reindex');
  end if;
  return ingest.enqueue_ingest(_document_id);
end;
$$;
