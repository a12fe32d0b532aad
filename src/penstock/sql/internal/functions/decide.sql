-- Decides from the facts of a root what comes next, and does it: ends the process, or schedules the next check. Returns the
-- supervisor's answer, or null when the supervisor should make an attempt. How long to wait after a failure is
-- up to the process; internal.max_attempts() limits the number of attempts.
-- Locks: the open root's row. Raises PS012, PS017.
create or replace function internal.decide(
  _process text,
  _root_id bigint,
  _attempts integer,
  _failures integer,
  _succeeded boolean,
  _stuck boolean,
  _attempted_at timestamptz,
  _failed_at timestamptz,
  _backoff interval default interval '5 seconds'
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_due_at timestamptz := _failed_at + _backoff;
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
