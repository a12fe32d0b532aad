-- Records in the timeline what a run waits for (a budget, a busy embedder); the document is pending until then.
-- Raises PS006, PS012.
create or replace function ingest.note_wait(
  _document_id uuid, _generation integer, _mode text, _reason text, _message text, _seconds double precision
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
  perform ingest.move_document(
    _document_id, 'pending', 'waits', _reason, _message, jsonb_build_object('seconds', _seconds));
end;
$$;
