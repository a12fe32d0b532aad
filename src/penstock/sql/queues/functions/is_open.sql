-- Whether a task has not ended: it is running, ready, waiting or parked. For maintenance, of any tenant; task_state() tells more to
-- those who may see the task.
create or replace function queues.is_open(_task_id bigint)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from queues.lease l where l.task_id = _task_id)
    or exists (select from queues.waiting w where w.task_id = _task_id)
    or exists (select from queues.parked p where p.task_id = _task_id)
    or exists (
      select from queues.find_task(_task_id) t
      join queues.ready r
        on r.lane = any (internal.task_lanes(t.queue_id, t.priority, t.tenant_id)) and r.task_id = _task_id);
$$;
