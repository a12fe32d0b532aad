-- Removes a document from every search at once, stops its run, ends its open ingestions and starts a supervised removal of each
-- of its files, with its chunks and vectors; a record has no file, and its chunks are swept. Attachments that came in only with
-- it are deleted too. Returns how many documents were deleted. Locks: the document's row, then its attachments'.
-- Raises PS012, PS013.
create or replace function ingest.delete_document(_document_id uuid)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_document ingest.document := ingest.lock_document(_document_id);
  v_child uuid;
  v_count integer := 1;
begin
  perform ingest.move_document(_document_id, 'deleted', 'deleted');
  perform ingest.close_ingestions(_document_id, 'skipped', 'deleted');
  if v_document.task_id is not null and v_document.status in ('pending', 'processing', 'embedding')
    and queues.task_state(v_document.task_id) in ('ready', 'waiting', 'parked', 'running')
  then
    perform queues.cancel_task(v_document.task_id, 'its document was deleted');
  end if;
  if v_document.file_id is null then
    perform ingest.put_sweep(_document_id, g.generation, interval '0')
    from (select distinct c.generation from ingest.chunk c where c.document_id = _document_id) g;
    perform ingest.forget_texts(v_document.tenant_id, _document_id, null);
  end if;
  perform files.kickoff_file_deletion(f.file_id)
  from files.file f
  where f.tenant_id = v_document.tenant_id and f.document_id = _document_id and f.blob_path not like 'removed/%';
  for v_child in
    select c.document_id from ingest.document c
    where c.parent_document_id = _document_id and c.deleted_at is null
      and not exists (
        select from ingest.ingestion i
        where i.document_id = c.document_id
          and i.source_metadata ->> 'parent_document_id' is distinct from _document_id::text)
  loop
    v_count := v_count + ingest.delete_document(v_child);
  end loop;
  return v_count;
end;
$$;
