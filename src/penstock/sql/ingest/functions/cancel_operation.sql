-- Stops an operation of the tenant; one that has ended stays as it is. Locks: its row. Raises PS012, PS013.
create or replace function ingest.cancel_operation(_operation_id uuid, _stopped_by text default null)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.require_tenant();
  return ingest.stop_operation(_operation_id, _stopped_by);
end;
$$;
