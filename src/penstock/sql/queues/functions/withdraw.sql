-- Takes back a task that waits for its time, for a caller that no longer needs it; false when the task no longer waits.
-- Unlike a cancel it asks no worker to stop and leaves no audit row. Locks: the waiting row.
create or replace function queues.withdraw(_task_id bigint)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_waiting queues.waiting;
begin
  delete from queues.waiting w where w.task_id = _task_id and not w.keyed returning w.* into v_waiting;
  if not found then
    return false;
  end if;
  perform queues.note_end(_task_id, v_waiting.failures, v_waiting.tenant_id, 'replaced');
  return true;
end;
$$;
