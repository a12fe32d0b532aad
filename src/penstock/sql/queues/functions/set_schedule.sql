-- Switches a schedule off or on. While off it does not fire; switched on again, a tick that passed meanwhile fires once.
-- Raises PS010.
create or replace function queues.set_schedule(_schedule_name text, _enabled boolean)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update queues.schedule s set enabled = _enabled where s.schedule_name = _schedule_name;
  if not found then
    raise exception using errcode = 'PS010', detail = 'schedule',
      message = format('there is no schedule %L', _schedule_name),
      hint = 'List the schedules: penstock schedule list';
  end if;
  perform queues.note_audit(case when _enabled then 'resume_schedule' else 'pause_schedule' end, _schedule_name);
end;
$$;
