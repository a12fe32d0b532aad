-- Ends an operation; its items are kept until it is forgotten. Runs with its caller's rights. Locks: its row.
create or replace function ingest.end_operation(_operation_id uuid, _state text, _error text default null)
returns void
language sql
as $$
  update ingest.operation o set
    state = _state::ingest.operation_state, error = left(_error, 2000), finished_at = internal.clock(), updated_at = internal.clock()
  where o.operation_id = _operation_id and o.finished_at is null;
$$;
