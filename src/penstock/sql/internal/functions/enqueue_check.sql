-- Enqueues a supervisor's check of a root, with the number that fences it. Runs with its caller's rights, for the
-- transaction's tenant.
create or replace function internal.enqueue_check(_process text, _root_id bigint, _number bigint, _at timestamptz)
returns bigint
language sql
set search_path = pg_catalog, pg_temp
as $$
  select queues.enqueue(
    _task_type => 'db_function',
    _payload => jsonb_build_object(
      'task_type', 'db_function',
      'db_function', p.supervisor,
      split_part(_process, '.', 2) || '_task_id', _root_id,
      'check', _number),
    _scheduled_at => _at,
    _queue => p.queue,
    _tenant_id => internal.require_tenant())
  from internal.process p where p.process = _process;
$$;
