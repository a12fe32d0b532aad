-- Whether a supervisor's run is the current one. A run that a wake-up has replaced is not; one called by hand, without a
-- number, always is. Locks: the open root's row, so that a wake-up takes effect after this run and what this run decides
-- does not replace it.
create or replace function internal.is_current_check(_process text, _root_id bigint, _payload jsonb)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_check_number bigint;
begin
  select o.check_number into v_check_number from internal.open_root o
  where o.process = _process and o.root_id = _root_id and o.tenant_id = internal.require_tenant()
  for update;
  return not (_payload ? 'check') or coalesce(v_check_number = internal.payload_id(_payload, 'check'), false);
end;
$$;
