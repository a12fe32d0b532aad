-- Asks for the supervisor's next look at a root, now or at a time, in place of the one asked for before. Supervisors
-- end with it, handlers wake their supervisor by it. Does nothing for a root that is over. Returns the time.
-- Locks: the open root's row. Raises PS012, PS017.
create or replace function internal.next_check(_process text, _root_id bigint, _at timestamptz default null)
returns timestamptz
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_root internal.open_root;
  v_process internal.process;
  v_at timestamptz := greatest(_at, internal.clock());
begin
  select * into v_root from internal.open_root o
  where o.process = _process and o.root_id = _root_id and o.tenant_id = internal.require_tenant()
  for update;
  if not found then
    return null;
  end if;
  select * into v_process from internal.process p where p.process = _process;
  if v_root.task_id > 0 then
    perform queues.withdraw(v_root.task_id);
  end if;
  update internal.open_root o set
    check_number = v_root.check_number + 1,
    next_check_at = v_at,
    task_id = queues.enqueue(
      _task_type => 'db_function',
      _payload => jsonb_build_object(
        'task_type', 'db_function',
        'db_function', v_process.supervisor,
        split_part(_process, '.', 2) || '_task_id', _root_id,
        'check', v_root.check_number + 1),
      _scheduled_at => _at,
      _queue => v_process.queue,
      _tenant_id => v_root.tenant_id)
  where o.process = _process and o.root_id = _root_id;
  return v_at;
end;
$$;
