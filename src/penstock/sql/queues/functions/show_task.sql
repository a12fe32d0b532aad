-- Everything about one task as one JSON document: the task, its state, its attempts and its errors. Raises PS007.
create or replace function queues.show_task(_task_id bigint)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_task queues.task;
  v_dead queues.dead_letter;
begin
  select * into v_task from queues.find_task(_task_id) t where internal.may_see(t.tenant_id);
  if not found then
    select * into v_dead from queues.dead_letter d
    where d.task_id = _task_id and internal.may_see(d.tenant_id);
    if not found then
      raise exception using errcode = 'PS007', detail = 'task_id',
        message = format('there is no task %s', _task_id),
        hint = 'List the tasks: penstock task list';
    end if;
    select v_dead.task_id, v_dead.task_type, v_dead.payload, v_dead.enqueued_at, v_dead.scheduled_at, v_dead.queue_id,
      v_dead.priority, v_dead.tenant_id into v_task.task_id, v_task.task_type, v_task.payload, v_task.enqueued_at,
      v_task.scheduled_at, v_task.queue_id, v_task.priority, v_task.tenant_id;
  end if;
  return jsonb_build_object(
    'task_id', v_task.task_id,
    'task_type', v_task.task_type,
    'state', queues.task_state(_task_id),
    'queue', (select q.queue_name from queues.queue q where q.queue_id = v_task.queue_id),
    'priority', v_task.priority,
    'tenant_id', v_task.tenant_id,
    'enqueued_at', v_task.enqueued_at,
    'scheduled_at', v_task.scheduled_at,
    'payload', coalesce(v_task.payload, v_task.large_payload::jsonb),
    'has_unique_key', v_task.unique_key is not null,
    'has_limit_key', v_task.limit_key is not null,
    'due_at', (select w.due_at from queues.waiting w where w.task_id = _task_id limit 1),
    'lease', (
      select jsonb_build_object('lease_id', l.lease_id, 'worker_id', l.worker_id, 'worker', w.worker_name,
        'claimed_at', l.claimed_at, 'deadline_at', l.deadline_at, 'attempt', l.failures + 1, 'losses', l.losses)
      from queues.lease l join queues.worker w using (worker_id) where l.task_id = _task_id limit 1),
    'attempts', (
      select coalesce(jsonb_agg(jsonb_build_object('attempt_id', a.attempt_id, 'attempt', a.attempt_number,
        'outcome', a.outcome, 'worker_id', a.worker_id, 'claimed_at', a.claimed_at, 'closed_at', a.closed_at,
        'worker', w.worker_name, 'versions', coalesce(w.versions, '{}'))
        order by a.closed_at, a.attempt_id), '[]')
      from queues.attempt a left join queues.worker w using (worker_id) where a.task_id = _task_id),
    'errors', (
      select coalesce(jsonb_agg(jsonb_build_object('attempt', e.attempt_number, 'error_code', e.error_code,
        'error_message', e.error_message, 'occurred_at', e.occurred_at, 'attempt_id', e.attempt_id, 'details', e.details)
        order by e.error_id), '[]')
      from queues.error e where e.task_id = _task_id));
end;
$$;
