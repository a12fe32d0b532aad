-- When a channel's task ends dead, quarantined or cancelled, enqueues its error handler in the same transaction: otherwise
-- its process would wait for an answer that cannot come. Other tasks, and those of a stopped tenant, just end.
create or replace function queues.note_bad_end(_task_id bigint, _error text, _retriable boolean default true)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  with task as materialized (
    select t.queue_id, t.tenant_id, coalesce(t.payload, t.large_payload::jsonb) as payload from queues.find_task(_task_id) t
  )
  select queues.enqueue(
    _task_type => 'db_function',
    _payload => jsonb_build_object(
      'task_type', 'db_function',
      'db_function', t.payload -> 'error_handler',
      'original_payload', t.payload,
      'error', _error,
      'retriable', _retriable),
    _queue => q.queue_name,
    _tenant_id => t.tenant_id)
  from task t
  join queues.queue q using (queue_id)
  where jsonb_typeof(t.payload -> 'error_handler') = 'string'
    and not exists (select from queues.stopped_tenant s
      where s.tenant_id = t.tenant_id and s.spared_queue_id is distinct from t.queue_id);
$$;
