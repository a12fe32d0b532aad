-- Enqueues a copy of a task, due now and without its keys, with the same payload or another one; returns the new task.
-- Leaves an audit row. Raises PS003, PS004, PS007, PS017.
create or replace function queues.repeat_task(_task_id bigint, _payload jsonb default null, _by text default null)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_task jsonb := queues.show_task(_task_id);
  v_copy bigint;
begin
  v_copy := queues.enqueue(
    v_task ->> 'task_type', coalesce(_payload, v_task -> 'payload'), _queue => v_task ->> 'queue',
    _priority => (v_task ->> 'priority')::integer, _tenant_id => (v_task ->> 'tenant_id')::uuid);
  perform queues.note_audit('repeat', _task_id::text, jsonb_strip_nulls(jsonb_build_object(
    'by', _by, 'task_id', v_copy, 'edited', _payload is not null)));
  return v_copy;
end;
$$;
