-- Creates the queue and the task type of a user's own channel, so that a supervisor can enqueue attempts before the first
-- worker with that channel starts. Existing ones are not changed. Raises PS005 for an invalid name, PS014 when the name is
-- a task type of something else.
create or replace function internal.register_channel(_channel text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue text;
begin
  if _channel is null or _channel !~ '^[a-z][a-z0-9_]{0,38}$' then
    raise exception using errcode = 'PS005', detail = 'channel',
      message = format('%L cannot be the name of a channel', left(_channel, 140)),
      hint = 'Use lower-case letters, digits and underscores, starting with a letter, at most 39.';
  end if;
  select q.queue_name into v_queue
  from queues.task_type y join queues.queue q using (queue_id) where y.task_type = _channel;
  if v_queue is null then
    perform queues.put_task_type(_channel, _channel);
  elsif v_queue <> _channel then
    raise exception using errcode = 'PS014', detail = 'channel',
      message = format('%L is a task type of the queue %s', _channel, v_queue), hint = 'Give the channel another name.';
  end if;
end;
$$;
