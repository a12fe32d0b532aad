-- Parsing and chunking are done. Writes what the classifier said about a document that it kept (as ingest.put_class() takes it).
-- Returns true to go on, false when the document was deleted meanwhile. Raises PS006, PS012.
create or replace function ingest.start_embedding(
  _document_id uuid, _generation integer, _detail jsonb, _decision jsonb default null
)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_document ingest.document := ingest.hold_run(_document_id, _generation);
begin
  if v_document.document_id is null then
    return false;
  end if;
  if v_document.status = 'processing' then
    perform ingest.move_document(_document_id, 'embedding', 'chunked', null, null, _detail);
  end if;
  if _decision is not null then
    perform ingest.put_class(v_document, _decision);
  end if;
  return true;
end;
$$;
