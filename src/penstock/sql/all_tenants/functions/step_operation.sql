-- The next step of an operator's operation: more, watch, done or over. Each item is treated in the name of its own tenant.
-- Locks: its row, then each item's.
create or replace function all_tenants.step_operation(
  _operation_id uuid, _run integer, _limit integer default 50, _patience interval default '1 hour'
)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (
    select from ingest.operation o where o.operation_id = _operation_id and o.tenant_id = internal.no_tenant())
  then
    return 'over';
  end if;
  return ingest.do_step(_operation_id, _run, _limit, _patience);
end;
$$;
