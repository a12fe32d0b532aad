-- Declares a queue and returns its id; declaring it again changes nothing. Raises PS005 for a bad name.
create or replace function queues.put_queue(_queue text)
returns smallint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue_id smallint;
begin
  select q.queue_id into v_queue_id from queues.queue q where q.queue_name = _queue;
  if found then
    return v_queue_id;
  end if;
  if _queue is null or _queue !~ '^[a-z][a-z0-9_.-]{0,62}$' then
    raise exception using errcode = 'PS005', detail = 'queue',
      message = format('%L is no name for a queue', _queue),
      hint = 'Use a lower-case letter, then letters, digits, _ . or -, at most 63.';
  end if;
  insert into queues.queue (queue_name) values (_queue) on conflict do nothing;
  select q.queue_id into v_queue_id from queues.queue q where q.queue_name = _queue;
  return v_queue_id;
end;
$$;
