-- The limits in force, one row per scope. With a key, only the limits of that key: they are stored under its hash.
create or replace function queues.limits(_queue text default null, _limit_key text default null)
returns table (queue text, scope text, max_running integer, rate_count integer, rate_period interval, rate_burst integer)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select q.queue_name, 'queue', q.max_running, q.rate_count, q.rate_period, q.rate_burst
  from queues.queue q
  where (_queue is null or q.queue_name = _queue) and (q.max_running is not null or q.rate_count is not null)
    and _limit_key is null
  union all
  select q.queue_name, coalesce('key ' || encode(l.limit_key, 'hex'), 'each_key'), l.max_running, l.rate_count,
    l.rate_period, l.rate_burst
  from queues.key_limit l
  join queues.queue q using (queue_id)
  where (_queue is null or q.queue_name = _queue)
    and (_limit_key is null or l.limit_key = internal.key_hash(format('limit %s', l.queue_id), _limit_key))
  order by 1, 2;
$$;
