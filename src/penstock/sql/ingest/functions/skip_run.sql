-- A classifier decided not to index this document: it ends skipped, its open ingestions get the reason, and the decision is written
-- (as ingest.put_class() takes it). Raises PS006, PS011, PS012.
create or replace function ingest.skip_run(
  _document_id uuid, _generation integer, _reason text, _decision jsonb default null
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_document ingest.document := ingest.hold_run(_document_id, _generation);
begin
  if v_document.document_id is null then
    return;
  end if;
  -- A person may have restored it while the classifier thought about it: then it runs once more, and is kept.
  if exists (
    select from ingest.decision d where d.document_id = _document_id and d.stage = 2 and d.reversed_at is not null)
  then
    perform ingest.move_document(_document_id, 'pending', 'restored');
    perform ingest.enqueue_ingest(_document_id);
    return;
  end if;
  perform ingest.move_document(_document_id, 'skipped', 'skipped', _reason);
  perform ingest.close_ingestions(_document_id, 'skipped', _reason);
  perform ingest.end_dead_letters(_document_id);
  perform ingest.put_class(v_document, coalesce(_decision, jsonb_build_object(
    'verdict', 'drop', 'name', _reason, 'skip_reason', _reason, 'version', 'own')));
end;
$$;
