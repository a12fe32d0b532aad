-- A rule said this document is not worth keeping: it ends skipped, its open ingestions with the reason.
-- Raises PS006, PS011, PS012.
create or replace function ingest.skip_run(_document_id uuid, _generation integer, _reason text)
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
  perform ingest.move_document(_document_id, 'skipped', 'skipped', _reason);
  perform ingest.close_ingestions(_document_id, 'skipped', _reason);
  perform ingest.end_dead_letters(_document_id);
end;
$$;
