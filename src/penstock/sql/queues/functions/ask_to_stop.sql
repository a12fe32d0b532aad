-- Asks a worker to stop as a SIGTERM would: it takes no more tasks, finishes or hands back what it holds, and ends. It learns
-- it by NOTIFY and by its next heartbeat. False if it has stopped, is lost, or was asked before. `_by` is the person, if the login is not.
-- Locks: the worker's row. Raises PS010.
create or replace function queues.ask_to_stop(_worker_id integer, _by text default null)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update queues.worker w set stop_asked_at = internal.clock(), stop_asked_by = left(coalesce(_by, session_user), 200)
  where w.worker_id = _worker_id and w.worker_id > 0 and w.stopped_at is null and w.lost_at is null and w.stop_asked_at is null;
  if found then
    perform queues.note_audit('stop_worker', _worker_id::text, jsonb_strip_nulls(jsonb_build_object('by', _by)));
    perform pg_notify('penstock_cancel', _worker_id::text);
    return true;
  end if;
  if not exists (select from queues.worker w where w.worker_id = _worker_id and w.worker_id > 0) then
    raise exception using errcode = 'PS010', detail = 'worker_id',
      message = format('there is no worker %s', _worker_id), hint = 'List the workers: penstock queue workers';
  end if;
  return false;
end;
$$;
