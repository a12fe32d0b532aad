-- Begins or continues an operator's operation for one worker; null when nothing is left to do. Locks: its row.
create or replace function all_tenants.begin_operation(_operation_id uuid, _task_id bigint)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return ingest.take_operation(o.operation_id, _task_id) from ingest.operation o
  where o.operation_id = _operation_id and o.tenant_id = internal.no_tenant();
end;
$$;
