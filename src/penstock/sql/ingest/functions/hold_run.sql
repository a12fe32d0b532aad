-- The document of a run with its row locked, if that run is still the newest one of a live document; null when the document or
-- its project was deleted meanwhile. Raises PS006 for a run that a later one has replaced.
create or replace function ingest.hold_run(_document_id uuid, _generation integer)
returns ingest.document
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_document ingest.document;
begin
  select * into v_document from ingest.document d
  where d.tenant_id = internal.require_tenant() and d.document_id = _document_id for update;
  if v_document.deleted_at is not null then
    return null;
  end if;
  if exists (
    select from accounts.project p where p.project_id = v_document.project_id and p.deleted_at is not null)
  then
    perform ingest.delete_document(_document_id); -- the task that deletes its project has not reached it yet
    return null;
  end if;
  if v_document.next_generation is distinct from _generation + 1 then
    raise exception using errcode = 'PS006', detail = 'generation',
      message = format('run %s of document %s was replaced by a later one', _generation, _document_id),
      hint = 'Discard the work; the later run finishes it.';
  end if;
  return v_document;
end;
$$;
