-- Ends a document for which nothing will run any more as failed, with its open ingestions. Raises PS011, PS012, PS013.
create or replace function ingest.end_failed(_document_id uuid, _code text, _message text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform ingest.move_document(_document_id, 'failed', 'failed', _code, _message);
  perform ingest.close_ingestions(_document_id, 'failed', null, _code, _message);
end;
$$;
