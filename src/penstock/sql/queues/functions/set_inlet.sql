-- Pauses or resumes an inlet: while it is paused nothing is taken in, and messages stay where they are. Leaves an audit row.
-- `_by` is the person, if the login is not. Raises PS013.
create or replace function queues.set_inlet(_inlet text, _enabled boolean, _by text default null)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_inlet queues.inlet := queues.find_inlet(_inlet);
begin
  update queues.inlet i set enabled = _enabled where i.inlet_id = v_inlet.inlet_id and i.enabled <> _enabled;
  perform queues.note_audit(
    case when _enabled then 'resume inlet' else 'pause inlet' end, _inlet, jsonb_strip_nulls(jsonb_build_object('by', _by)));
end;
$$;
