-- Where a task is now: running, ready, waiting, parked, dead, or how it ended.
create or replace function queues.task_state(_task_id bigint)
returns text
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_task queues.task;
  v_lane bigint;
  v_tenant_id uuid;
begin
  select * into v_task from queues.find_task(_task_id);
  v_tenant_id := v_task.tenant_id;
  if not found then
    -- Its row was dropped with its partition; its attempts still say whose it was.
    select d.tenant_id into v_tenant_id from queues.dead_letter d where d.task_id = _task_id;
    if not found then
      select a.tenant_id into v_tenant_id from queues.attempt a where a.task_id = _task_id limit 1;
    end if;
  end if;
  if not internal.may_see(v_tenant_id) then
    return null;
  end if;
  v_lane := internal.lane(v_task.queue_id, v_task.priority + 1, v_task.tenant_id);
  return case
    when exists (select from queues.lease l where l.task_id = _task_id) then 'running'
    when exists (select from queues.waiting w where w.task_id = _task_id) then 'waiting'
    when exists (select from queues.parked p where p.task_id = _task_id) then 'parked'
    when exists (select from queues.dead_letter d where d.task_id = _task_id) then 'dead'
    when exists (select from queues.ready r where r.lane = v_lane and r.seq = _task_id) then 'ready'
    when exists (
      select from queues.ready r
      where r.lane = any (internal.task_lanes(v_task.queue_id, v_task.priority, v_task.tenant_id)) and r.task_id = _task_id) then 'ready'
    else (
      select a.outcome::text from queues.attempt a
      where a.task_id = _task_id order by a.closed_at desc, a.attempt_id desc limit 1)
  end;
end;
$$;
