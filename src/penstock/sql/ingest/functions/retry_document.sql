-- Enqueues a failed or skipped document again, for a person; the old diagnosis stays in its timeline.
-- Raises PS011, PS012, PS013.
create or replace function ingest.retry_document(_document_id uuid)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_document ingest.document := ingest.lock_document(_document_id);
begin
  if v_document.status not in ('failed', 'skipped') then
    raise exception using errcode = 'PS011', detail = 'status',
      message = format('a document with status %s cannot be retried', v_document.status),
      hint = case when v_document.status = 'indexed' then 'Re-index it instead.'
        else 'Its run has not ended yet; penstock explain says what it waits for.' end;
  end if;
  perform ingest.move_document(_document_id, 'pending', 'retried');
  return ingest.enqueue_ingest(_document_id);
end;
$$;
