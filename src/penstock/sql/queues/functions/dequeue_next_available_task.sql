-- For simple workers: one available task under its own five-minute lease, issued to worker 0, in the order in which the
-- tasks became due; null when there is none. When the lease expires, the task becomes available again.
create or replace function queues.dequeue_next_available_task()
returns queues.task
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue text;
  v_task_id bigint;
  v_task queues.task;
begin
  perform queues.rescue(100);
  perform queues.admit(q.queue_id) from queues.queue q where q.paused_at is null;
  for v_queue in
    select q.queue_name
    from queues.queue q
    cross join lateral (
      select r.seq, r.task_id
      from queues.find_lanes(q.queue_id) f
      join queues.ready r on r.lane = f.lane and r.seq = f.seq
      order by r.seq
      limit 1
    ) head
    cross join lateral queues.find_task(head.task_id) t
    where q.paused_at is null
    -- Tickets of two queues are drawn when each is admitted, so they do not tell whose task was due first.
    order by t.scheduled_at, head.seq
  loop
    select c.task_id into v_task_id
    from queues.claim(0, v_queue, 1, _admit => false, _lease_for => interval '5 minutes') c;
    if found then
      select * into v_task from queues.find_task(v_task_id);
      v_task.payload := coalesce(v_task.payload, v_task.large_payload::jsonb);
      v_task.large_payload := null;
      return v_task;
    end if;
  end loop;
  return null;
end;
$$;
