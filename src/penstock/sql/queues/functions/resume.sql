-- Lets a paused queue be claimed again and wakes its workers.
create or replace function queues.resume(_queue text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue queues.queue := queues.get_queue(_queue);
begin
  update queues.queue q set paused_at = null, paused_by = null where q.queue_name = _queue;
  perform queues.note_audit('resume', _queue);
  perform pg_notify('penstock_ready', v_queue.queue_id || ':due');
end;
$$;
