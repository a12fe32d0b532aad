-- Declares a queue and returns its id; declaring it again changes only its payload limit, if one is given.
-- Raises PS005 for an invalid name.
create or replace function queues.put_queue(_queue text, _payload_limit integer default null)
returns smallint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue queues.queue;
begin
  if _queue is null or _queue !~ '^[a-z][a-z0-9_.-]{0,62}$' then
    raise exception using errcode = 'PS005', detail = 'queue',
      message = format('%L is not a valid name for a queue', _queue),
      hint = 'Use a lower-case letter, then letters, digits, _ . or -, at most 63.';
  end if;
  select * into v_queue from queues.queue q where q.queue_name = _queue;
  if not found then
    insert into queues.queue (queue_name) values (_queue) on conflict do nothing;
    select * into v_queue from queues.queue q where q.queue_name = _queue;
  end if;
  if _payload_limit <> v_queue.payload_limit then
    update queues.queue q set payload_limit = _payload_limit where q.queue_id = v_queue.queue_id;
  end if;
  return v_queue.queue_id;
end;
$$;
