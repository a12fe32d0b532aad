-- Stops an operation of any tenant, for an operator; one that has ended stays as it is. Locks: its row. Raises PS013.
create or replace function all_tenants.cancel_operation(_operation_id uuid, _stopped_by text default null)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return ingest.stop_operation(_operation_id, _stopped_by);
end;
$$;
