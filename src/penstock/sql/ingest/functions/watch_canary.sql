-- Looks at the canary of an operation that watches it and says what follows: `more` (it passed: the rest follows), `watch`, or `over`.
-- It passes when all have ended and at least 95 in 100 succeeded; it fails as soon as that cannot be reached, or when they have not
-- ended after _patience. Runs with its caller's rights. Locks: the operation's row.
create or replace function ingest.watch_canary(_operation_id uuid, _run integer, _patience interval)
returns text
language plpgsql
as $$
declare
  v_operation ingest.operation;
  v_seen record;
begin
  select * into v_operation from ingest.operation o where o.operation_id = _operation_id for update;
  if not found or v_operation.run <> _run or v_operation.state <> 'watching' then
    return case when v_operation.state = 'running' and v_operation.run = _run then 'more' else 'over' end;
  end if;
  select c.succeeded, c.failed, c.pending, c.succeeded + c.failed + c.pending as whole into v_seen
  from ingest.canary_outcomes(v_operation) c;
  update ingest.operation o set
    canary_succeeded = v_seen.succeeded, canary_failed = v_seen.failed, updated_at = internal.clock()
  where o.operation_id = _operation_id;
  if v_seen.failed > v_seen.whole * 0.05 then
    update ingest.operation o set canary_state = 'failed' where o.operation_id = _operation_id;
    perform ingest.end_operation(_operation_id, 'stopped', format(
      'the canary failed: %s of its %s items failed, so the other %s were not touched', v_seen.failed, v_seen.whole,
      v_operation.total - v_operation.next_ordinal));
    return 'over';
  elsif v_seen.pending > 0 and v_operation.watched_since > internal.clock() - _patience then
    return 'watch';
  elsif v_seen.pending > 0 then
    update ingest.operation o set canary_state = 'failed' where o.operation_id = _operation_id;
    perform ingest.end_operation(_operation_id, 'stopped', format(
      '%s of the canary''s %s items have not ended after %s, so the other %s were not touched', v_seen.pending, v_seen.whole,
      _patience, v_operation.total - v_operation.next_ordinal));
    return 'over';
  end if;
  update ingest.operation o set canary_state = 'passed', state = 'running' where o.operation_id = _operation_id;
  if v_operation.next_ordinal >= v_operation.total then
    perform ingest.end_operation(_operation_id, 'done');
    return 'done';
  end if;
  return 'more';
end;
$$;
