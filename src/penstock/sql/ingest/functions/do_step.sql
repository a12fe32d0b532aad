-- The next step of an operation: a batch of its items, or a look at its canary. Says what follows: `more`, `watch`, `done` or `over`.
-- Runs with its caller's rights. Locks: the operation's row, then each item's. Raises PS012.
create or replace function ingest.do_step(_operation_id uuid, _run integer, _limit integer, _patience interval)
returns text
language plpgsql
as $$
begin
  if exists (select from ingest.operation o where o.operation_id = _operation_id and o.state = 'watching') then
    return ingest.watch_canary(_operation_id, _run, _patience);
  end if;
  return ingest.do_batch(_operation_id, _run, _limit);
end;
$$;
