-- Cancels a task in whatever state it is. A task that waits ends at once (returns cancelled). A task that runs is asked to
-- stop (returns requested): its worker learns it by NOTIFY and by its next heartbeat. A task that has ended stays as it is
-- (returns ended). Its ready row is found by its ticket, which is its id unless it was admitted or returned.
-- Locks: the ready row, waiting for a claim that has it; or the key it is parked behind, without which admit could hand the
-- key to the row deleted here; or the lease, waiting for a close in progress, which may send the task back.
create or replace function queues.cancel_task(_task_id bigint, _reason text default 'cancelled by an operator')
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_task queues.task;
  v_lane bigint;
  v_found boolean := false;
  v_lease queues.lease;
begin
  select * into v_task from queues.find_task(_task_id) t where internal.may_see(t.tenant_id);
  if not found then
    raise exception using errcode = 'PS007', detail = 'task_id',
      message = format('there is no task %s', _task_id),
      hint = 'List the tasks: penstock task list';
  end if;
  v_lane := internal.lane(v_task.queue_id, v_task.priority + 1, v_task.tenant_id);

  -- Twice: a task moves between these tables, and one search through them can miss it.
  for v_try in 1..2 loop
    delete from queues.ready r where r.lane = v_lane and r.seq = _task_id and r.task_id = _task_id;
    v_found := found;
    if not v_found then
      delete from queues.ready r
      where r.lane = any (internal.task_lanes(v_task.queue_id, v_task.priority, v_task.tenant_id)) and r.task_id = _task_id;
      v_found := found;
    end if;
    if not v_found then
      delete from queues.waiting w where w.task_id = _task_id;
      v_found := found;
    end if;
    if not v_found then
      perform internal.key_lock(p.key) from queues.parked p where p.task_id = _task_id;
      delete from queues.parked p where p.task_id = _task_id;
      v_found := found;
    end if;
    if v_found then
      insert into queues.freed (queue_id, key, task_id)
      select v_task.queue_id, h.key, h.task_id from queues.held h where h.task_id = _task_id;
      perform queues.note_end(_task_id, 0, v_task.tenant_id, 'cancelled');
      perform queues.note_audit('cancel', _task_id::text, jsonb_build_object('reason', _reason));
      perform queues.note_bad_end(_task_id, 'Cancelled: ' || coalesce(_reason, ''));
      perform queues.wake(v_task.queue_id);
      return 'cancelled';
    end if;

    select * into v_lease from queues.lease l where l.task_id = _task_id for update;
    if found then
      insert into queues.cancel (task_id, worker_id, lease_id, reason, requested_at, requested_by)
      values (_task_id, v_lease.worker_id, v_lease.lease_id, _reason, internal.clock(), session_user)
      -- A request that crossed the end of an earlier run names the wrong lease; this one must reach the worker.
      on conflict (task_id) do update set
        worker_id = excluded.worker_id, lease_id = excluded.lease_id, reason = excluded.reason,
        requested_at = excluded.requested_at, requested_by = excluded.requested_by;
      perform queues.note_audit('cancel', _task_id::text, jsonb_build_object('reason', _reason));
      perform pg_notify('penstock_cancel', v_lease.worker_id::text);
      return 'requested';
    end if;
  end loop;
  return 'ended';
end;
$$;
