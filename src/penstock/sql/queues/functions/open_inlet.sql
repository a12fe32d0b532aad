-- The inlet with this name, ready to take something in. Raises PS013 if there is none and PS023 while it is paused.
create or replace function queues.open_inlet(_inlet text)
returns queues.inlet
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_inlet queues.inlet;
begin
  v_inlet := queues.find_inlet(_inlet);
  if not v_inlet.enabled then
    raise exception using errcode = 'PS023', detail = 'inlet',
      message = format('inlet %L is paused', _inlet),
      hint = format('Resume it: penstock inlet resume %s', _inlet);
  end if;
  return v_inlet;
end;
$$;
