-- Ends a task whose lease was just closed in another way, if it had been asked to stop: it does not run again.
create or replace function queues.end_if_cancelled(_lease queues.lease)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from queues.cancel c where c.task_id = _lease.task_id;
  if not found then
    return false;
  end if;
  if _lease.held <> 0 then
    perform queues.free_keys(array[_lease.task_id], true);
  end if;
  perform queues.note_end(_lease.task_id, _lease.failures + 1, _lease.tenant_id, 'cancelled');
  perform queues.note_bad_end(_lease.task_id, 'Cancelled');
  return true;
end;
$$;
