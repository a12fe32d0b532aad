-- Ends all open ingestions of a document with the same status and announces them.
create or replace function ingest.close_ingestions(
  _document_id uuid,
  _status ingest.ingestion_status,
  _skip_reason text default null,
  _error_code text default null,
  _error_message text default null
)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ingestion_id uuid;
  v_count integer := 0;
begin
  for v_ingestion_id in
    update ingest.ingestion i set
      status = _status, skip_reason = _skip_reason, error_code = _error_code,
      error_message = left(_error_message, 2000), finished_at = internal.clock()
    where i.document_id = _document_id and i.finished_at is null
    returning i.ingestion_id
  loop
    perform ingest.announce(v_ingestion_id);
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;
