-- The queue's row, or PS002.
create or replace function queues.get_queue(_queue text)
returns queues.queue
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue queues.queue;
begin
  select * into v_queue from queues.queue q where q.queue_name = _queue;
  if not found then
    raise exception using errcode = 'PS002', detail = 'queue',
      message = format('there is no queue %L', _queue),
      hint = 'List the queues: penstock queue stats. A worker creates the queues it serves.';
  end if;
  return v_queue;
end;
$$;
