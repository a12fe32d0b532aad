-- Makes a waiting task (delayed, snoozed or between attempts) due at once. False when the task is not waiting, or not the
-- caller's to see.
create or replace function queues.run_now(_task_id bigint)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row queues.waiting;
begin
  delete from queues.waiting w where w.task_id = _task_id and internal.may_see(w.tenant_id) returning w.* into v_row;
  if not found then
    return false;
  end if;
  v_row.due_at := internal.clock();
  insert into queues.waiting values (v_row.*);
  perform queues.note_audit('run_now', _task_id::text);
  perform queues.wake(v_row.queue_id);
  return true;
end;
$$;
