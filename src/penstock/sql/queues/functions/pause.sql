-- Stops claims from a queue; tasks that run go on. Pausing it again changes nothing.
create or replace function queues.pause(_queue text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform queues.get_queue(_queue);
  update queues.queue q set paused_at = internal.clock() where q.queue_name = _queue and q.paused_at is null;
  perform queues.note_audit('pause', _queue);
end;
$$;
