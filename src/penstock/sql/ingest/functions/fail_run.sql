-- Records a run that failed. A final failure ends the document and its open ingestions; any other leaves it pending for the
-- next attempt, with the diagnosis in the timeline. The live generation never changes here.
-- Locks: the document's row. Raises PS006, PS012.
create or replace function ingest.fail_run(
  _document_id uuid, _generation integer, _mode text, _code text, _message text, _final boolean, _detail jsonb default '{}'
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_document ingest.document := ingest.hold_run(_document_id, _generation);
begin
  perform ingest.put_sweep(_document_id, _generation, interval '0');
  if v_document.document_id is null then
    return;
  end if;
  if _final then
    perform ingest.move_document(_document_id, 'failed', 'failed', _code, _message, _detail);
    perform ingest.close_ingestions(_document_id, 'failed', null, _code, _message);
  else
    perform ingest.move_document(_document_id, 'pending', 'attempt_failed', _code, _message, _detail);
  end if;
end;
$$;
