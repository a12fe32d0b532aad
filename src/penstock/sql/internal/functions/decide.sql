-- Decides by the facts of a root what comes next, and does it: ends the process, or asks for the next look. Returns the
-- supervisor's answer, or null when it is time for an attempt, which is the supervisor's to make. How often and how long
-- apart attempts are made is said here and in the functions it calls, for every process.
-- Locks: the open root's row. Raises PS012, PS017.
create or replace function internal.decide(
  _process text,
  _root_id bigint,
  _attempts integer,
  _failures integer,
  _succeeded boolean,
  _stuck boolean,
  _attempted_at timestamptz,
  _failed_at timestamptz
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_due_at timestamptz := _failed_at + internal.backoff(_failures);
begin
  if _succeeded then
    perform internal.end_process(_process, _root_id);
    return internal.progress('done');
  end if;
  if _stuck then
    perform internal.end_process(_process, _root_id);
    return jsonb_build_object(
      'status', case when _failures >= internal.max_attempts() then 'max_attempts_reached' else 'not_retriable' end);
  end if;
  if _attempts > _failures then
    return internal.progress('waiting', jsonb_build_object(
      'next_check_at', internal.next_check(_process, _root_id, internal.watch_after(_attempted_at))));
  end if;
  if v_due_at > internal.clock() then
    return internal.progress('backing_off', jsonb_build_object(
      'next_check_at', internal.next_check(_process, _root_id, v_due_at)));
  end if;
  return null;
end;
$$;
