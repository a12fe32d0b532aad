-- For simple workers: closes the lease that dequeue_next_available_task() issued for this task. A task id is not a fence,
-- so this never closes the lease of a registered worker (PS008). If the dequeued lease has already expired and the task waits to run
-- again, it is removed, because its work is done. Calling it twice has the same effect as calling it once.
create or replace function queues.complete_task(_task_id bigint)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lease queues.lease;
  v_task queues.task;
  v_lanes bigint[];
begin
  select * into v_lease from queues.lease l where l.worker_id = 0 and l.task_id = _task_id;
  if found and cardinality(queues.complete(0, array[v_lease.lease_id])) > 0 then
    return;
  end if;
  select * into v_task from queues.find_task(_task_id);
  if not found then
    raise exception using errcode = 'PS007', detail = 'task_id',
      message = format('there is no task %s', _task_id),
      hint = 'Complete a task that dequeue_next_available_task() returned.';
  end if;
  if exists (select from queues.lease l where l.task_id = _task_id and l.worker_id <> 0) then
    raise exception using errcode = 'PS008', detail = 'task_id',
      message = format('task %s is held by a worker', _task_id),
      hint = 'Only the worker that claimed it can complete it, by its lease.';
  end if;
  if not exists (select from queues.attempt a where a.task_id = _task_id and a.worker_id = 0) then
    if exists (select from queues.attempt a where a.task_id = _task_id and a.outcome = 'completed') then
      return;
    end if;
    raise exception using errcode = 'PS008', detail = 'task_id',
      message = format('task %s was never dequeued', _task_id),
      hint = 'Complete a task that dequeue_next_available_task() returned.';
  end if;

  v_lanes := internal.task_lanes(v_task.queue_id, v_task.priority, v_task.tenant_id);
  delete from queues.ready r where r.lane = any (v_lanes) and r.task_id = _task_id;
  if not found then
    delete from queues.waiting w where w.task_id = _task_id;
  end if;
  if not found then
    perform internal.key_lock(p.key) from queues.parked p where p.task_id = _task_id;
    delete from queues.parked p where p.task_id = _task_id;
  end if;
  if found then
    insert into queues.freed (queue_id, key, task_id)
    select v_task.queue_id, h.key, h.task_id from queues.held h where h.task_id = _task_id;
    perform queues.note_end(_task_id, 1, v_task.tenant_id, 'completed');
  end if;
end;
$$;
