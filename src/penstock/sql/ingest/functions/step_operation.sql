-- The next step of an operation of the tenant: more, watch, done or over. Locks: its row, then each item's. Raises PS012.
create or replace function ingest.step_operation(
  _operation_id uuid, _run integer, _limit integer default 50, _patience interval default '1 hour'
)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.require_tenant();
  return ingest.do_step(_operation_id, _run, _limit, _patience);
end;
$$;
