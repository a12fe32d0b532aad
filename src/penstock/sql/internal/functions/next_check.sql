-- Schedules the supervisor's next check of a root, now or at a given time, in place of the one scheduled before. Supervisors
-- end with it; handlers wake their supervisor with it. Does nothing for a root that is closed. Returns the time.
-- Locks: the open root's row. Raises PS012, PS017.
create or replace function internal.next_check(_process text, _root_id bigint, _at timestamptz default null)
returns timestamptz
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_root internal.open_root;
  v_at timestamptz := greatest(_at, internal.clock());
begin
  select * into v_root from internal.open_root o
  where o.process = _process and o.root_id = _root_id and o.tenant_id = internal.require_tenant()
  for update;
  if not found then
    return null;
  end if;
  -- A check that was due is running or about to run, and will find that it was replaced.
  if v_root.next_check_at > internal.clock() then
    perform queues.withdraw(v_root.task_id);
  end if;
  update internal.open_root o set
    check_number = v_root.check_number + 1,
    next_check_at = v_at,
    task_id = internal.enqueue_check(_process, _root_id, v_root.check_number + 1, _at)
  where o.process = _process and o.root_id = _root_id;
  return v_at;
end;
$$;
