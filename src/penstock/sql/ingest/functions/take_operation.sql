-- Begins or continues an operation for one worker: returns the number that fences its steps, null when there is nothing left to do. One
-- that had failed goes on where it was: somebody replayed its task. Runs with its caller's rights. Locks: the operation's row.
create or replace function ingest.take_operation(_operation_id uuid, _task_id bigint)
returns integer
language sql
as $$
  update ingest.operation o set
    run = o.run + 1, task_id = _task_id, updated_at = internal.clock(), error = null, finished_at = null,
    state = (case when o.canary_state = 'watching' then 'watching' else 'running' end)::ingest.operation_state
  where o.operation_id = _operation_id and o.state in ('running', 'watching', 'failed')
  returning o.run;
$$;
