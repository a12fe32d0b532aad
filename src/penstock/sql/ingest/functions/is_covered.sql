-- Whether the wanted sync of a source covers a notification that arrives now: it has not begun, or it is the one after the
-- running sync, whose request was _running_seq. A request that no sync has begun for a minute does not count: its task may be
-- gone. Locks: none. Errors: none.
create or replace function ingest.is_covered(_seq bigint, _requested_at timestamptz, _running_seq bigint)
returns boolean
language sql
stable
parallel safe
as $$
  select case
    when _running_seq is null then _requested_at > internal.clock() - interval '1 minute'
    else _seq > _running_seq end;
$$;
