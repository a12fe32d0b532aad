-- Stops an operation for a person: what it has not treated yet stays as it is. An operation that has ended stays as it is, too.
-- Runs with its caller's rights. Locks: the operation's row, for which it waits at most a batch. Raises PS013.
create or replace function ingest.stop_operation(_operation_id uuid, _stopped_by text)
returns jsonb
language plpgsql
as $$
begin
  perform ingest.end_operation(_operation_id, 'stopped', 'cancelled by ' || coalesce(_stopped_by, 'an operator'));
  return ingest.one_operation(_operation_id);
end;
$$;
