-- Begins or continues an operation of the tenant for one worker; null when nothing is left to do. Locks: its row. Raises PS012.
create or replace function ingest.begin_operation(_operation_id uuid, _task_id bigint)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.require_tenant();
  return ingest.take_operation(_operation_id, _task_id);
end;
$$;
