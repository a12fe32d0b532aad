-- Stops claims from a queue; tasks that run go on. Pausing it again changes nothing. `_by` is the person, if the login is not.
create or replace function queues.pause(_queue text, _by text default null)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform queues.get_queue(_queue);
  update queues.queue q set paused_at = internal.clock(), paused_by = left(coalesce(_by, session_user), 200)
  where q.queue_name = _queue and q.paused_at is null;
  perform queues.note_audit('pause', _queue, jsonb_strip_nulls(jsonb_build_object('by', _by)));
end;
$$;
