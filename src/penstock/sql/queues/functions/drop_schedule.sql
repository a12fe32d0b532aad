-- Removes a schedule. False when there is none of that name.
create or replace function queues.drop_schedule(_schedule_name text)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from queues.schedule s where s.schedule_name = _schedule_name;
  return found;
end;
$$;
