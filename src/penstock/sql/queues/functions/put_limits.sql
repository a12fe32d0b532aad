-- Sets the limits of a queue (_scope queue), of each of its keys (each_key) or of one key (key). Null means no limit: each
-- call states all limits. Tasks that wait for a key are decided again at once. Raises PS002, PS005.
create or replace function queues.put_limits(
  _queue text,
  _scope text,
  _limit_key text default null,
  _max_running integer default null,
  _rate_count integer default null,
  _rate_period interval default null,
  _rate_burst integer default null
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue queues.queue := queues.get_queue(_queue);
begin
  if _scope not in ('queue', 'each_key', 'key') or (_scope = 'key') <> (_limit_key is not null) then
    raise exception using errcode = 'PS005', detail = 'scope',
      message = format('a limit of scope %L cannot be set %s a key', _scope,
        case when _limit_key is null then 'without' else 'with' end),
      hint = 'Use queue, each_key, or key together with the key.';
  end if;
  if _max_running <= 0 or _rate_count <= 0 or _rate_period <= interval '0' or _rate_burst <= 0
    or (_rate_count is null) <> (_rate_period is null)
  then
    raise exception using errcode = 'PS005', detail = 'limit',
      message = 'a limit must be positive, and a rate needs both a count and a period',
      hint = 'For example max_running 4, or 100 per 1 minute.';
  end if;

  if _scope = 'queue' then
    update queues.queue q set
      max_running = _max_running, rate_count = _rate_count, rate_period = _rate_period, rate_burst = _rate_burst
    where q.queue_id = v_queue.queue_id;
  elsif _max_running is null and _rate_count is null and _scope = 'key' then
    delete from queues.key_limit l
    where l.queue_id = v_queue.queue_id
      and l.limit_key = internal.key_hash(format('limit %s', v_queue.queue_id), _limit_key);
  else
    insert into queues.key_limit (queue_id, limit_key, max_running, rate_count, rate_period, rate_burst)
    values (
      v_queue.queue_id, internal.key_hash(format('limit %s', v_queue.queue_id), _limit_key),
      _max_running, _rate_count, _rate_period, _rate_burst)
    on conflict (queue_id, limit_key) do update set
      max_running = excluded.max_running, rate_count = excluded.rate_count,
      rate_period = excluded.rate_period, rate_burst = excluded.rate_burst;
  end if;
  insert into queues.freed (queue_id, key, task_id)
  select distinct v_queue.queue_id, p.key, 0 from queues.parked p where p.queue_id = v_queue.queue_id;
  perform queues.note_audit('limits', _queue, jsonb_build_object(
    'scope', _scope, 'max_running', _max_running, 'rate_count', _rate_count,
    'rate_period', _rate_period, 'rate_burst', _rate_burst));
  perform pg_notify('penstock_ready', v_queue.queue_id || ':due');
end;
$$;
