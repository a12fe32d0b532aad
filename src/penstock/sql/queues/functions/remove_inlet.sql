-- Removes an inlet. Its ledger stays until the sweep, so that adding the same source again takes nothing twice. Leaves an
-- audit row. Raises PS013.
create or replace function queues.remove_inlet(_inlet text, _by text default null)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_inlet queues.inlet := queues.find_inlet(_inlet);
begin
  update queues.inlet i set removed_at = internal.clock(), enabled = false where i.inlet_id = v_inlet.inlet_id;
  delete from queues.inlet_hold h where h.inlet_id = v_inlet.inlet_id;
  perform queues.note_audit(
    'remove inlet', _inlet, jsonb_strip_nulls(jsonb_build_object('by', _by)));
end;
$$;
