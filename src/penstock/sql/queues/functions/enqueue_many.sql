-- Enqueues a batch of tasks of one type in the caller's own transaction and returns their ids in order.
-- Due tasks without a key go straight to ready; delayed and keyed ones go to waiting, where admit decides (deciding a key
-- here, by "on conflict", would deadlock two producers that name two keys in opposite order). A due task of mode wait is parked
-- in its line at once: lines are ordered by task id, and admit starts the first. A line is a tenant's, whatever the types.
-- pg_current_xact_id() comes before any ticket is drawn: the worker's safe mark depends on it.
-- Locks: none that another caller waits for. Raises PS001, PS002, PS003, PS004, PS005, PS017; then nothing is written.
create or replace function queues.enqueue_many(
  _task_type text,
  _payloads jsonb[],
  _scheduled_at timestamptz default null,
  _delay interval default null,
  _queue text default null,
  _priority integer default null,
  _tenant_id uuid default null,
  _unique_keys text[] default null,
  _on_duplicate text default null,
  _limit_keys text[] default null,
  _time_limit interval default null,
  _max_attempts integer default null
)
returns bigint[]
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  v_type queues.task_type;
  v_queue queues.queue;
  v_now timestamptz := internal.clock();
  -- A larger payload is kept as text (queues.task.large_payload): a claim returns text, and making it costs most of a large claim.
  v_inline constant integer := 16384;
  v_due timestamptz;
  v_priority integer;
  v_lane bigint;
  v_ids bigint[];
  v_largest integer;
  v_missing text;
  v_count integer := coalesce(cardinality(_payloads), 0);
  v_straight boolean;
  v_mode text;
  v_scope text;
  v_awaited boolean;
  v_watched boolean;
  v_tenant_id uuid := coalesce(_tenant_id, internal.tenant_id());
begin
  perform pg_current_xact_id();

  if v_tenant_id is distinct from coalesce(internal.tenant_id(), v_tenant_id) then
    raise exception using errcode = 'PS005', detail = 'tenant_id',
      message = format('this transaction does not belong to tenant %s', _tenant_id),
      hint = 'Omit tenant_id, or enqueue in a transaction of that tenant.';
  end if;

  select * into v_type from queues.task_type t where t.task_type = _task_type;
  if not found then
    raise exception using errcode = 'PS001', detail = 'task_type',
      message = format('there is no task type %L', _task_type),
      hint = 'Declare it with @app.task and start a worker once, or call queues.put_task_type().';
  end if;
  if _queue is null then
    select * into v_queue from queues.queue q where q.queue_id = v_type.queue_id;
  else
    select * into v_queue from queues.queue q where q.queue_name = _queue;
    if not found then
      raise exception using errcode = 'PS002', detail = 'queue',
        message = format('there is no queue %L', _queue),
        hint = 'Start a worker for it once, or call queues.put_queue().';
    end if;
  end if;

  if v_count = 0 then
    return '{}';
  end if;
  if v_tenant_id is not null and exists (
    select from queues.stopped_tenant s
    where s.tenant_id = v_tenant_id and s.spared_queue_id is distinct from v_queue.queue_id)
  then
    raise exception using errcode = 'PS017', detail = 'tenant_id',
      message = format('tenant %s is deleted and takes no more tasks', v_tenant_id),
      hint = 'Use another tenant.';
  end if;
  v_priority := coalesce(_priority, v_type.priority);
  if v_priority not between 0 and 9 then
    raise exception using errcode = 'PS005', detail = 'priority',
      message = format('priority %s is not between 0 and 9', v_priority),
      hint = 'Use 0 for the most urgent and 9 for the least.';
  end if;
  if _delay < interval '0' then
    raise exception using errcode = 'PS005', detail = 'delay',
      message = format('the delay %s is negative', _delay),
      hint = 'Give a delay of zero or more, or a scheduled time.';
  end if;
  if _delay is not null and _scheduled_at is not null then
    raise exception using errcode = 'PS005', detail = 'delay',
      message = 'both a delay and a scheduled time were given',
      hint = 'Give one of them.';
  end if;
  if _time_limit <= interval '0' then
    raise exception using errcode = 'PS005', detail = 'time_limit',
      message = format('the time limit %s is not positive', _time_limit),
      hint = 'Give a time limit above zero, or none.';
  end if;
  if _max_attempts not between 1 and 1000 then
    raise exception using errcode = 'PS005', detail = 'max_attempts',
      message = format('%s attempts are not between 1 and 1000', _max_attempts),
      hint = 'Give a number of attempts from 1 to 1000, or none for what the task type says.';
  end if;
  if _on_duplicate not in ('skip', 'replace', 'coalesce', 'wait') then
    raise exception using errcode = 'PS005', detail = 'on_duplicate',
      message = format('%L is not a way to treat duplicates', _on_duplicate),
      hint = 'Use skip, replace, coalesce or wait.';
  end if;
  if cardinality(_unique_keys) <> v_count or cardinality(_limit_keys) <> v_count then
    raise exception using errcode = 'PS005',
      detail = case when cardinality(_unique_keys) <> v_count then 'unique_keys' else 'limit_keys' end,
      message = 'the number of keys differs from the number of payloads',
      hint = 'Give one key per payload, or no keys.';
  end if;

  select
    max(case when p.payload is null or jsonb_typeof(p.payload) <> 'object' then 2147483647
      else pg_column_size(p.payload) end),
    min(k.name) filter (where not p.payload ? k.name)
  into v_largest, v_missing
  from unnest(_payloads) as p (payload)
  left join lateral unnest(v_type.required_keys) as k (name) on cardinality(v_type.required_keys) > 0;
  if v_largest = 2147483647 then
    raise exception using errcode = 'PS003', detail = 'payload',
      message = format('a payload of %L is not a JSON object', _task_type),
      hint = 'Send an object such as {"document_id": 1}.';
  end if;
  if v_missing is not null then
    raise exception using errcode = 'PS003', detail = 'payload.' || v_missing,
      message = format('a payload of %L lacks %L', _task_type, v_missing),
      hint = format('Add the key %L to the payload.', v_missing);
  end if;
  if v_largest > v_queue.payload_limit then
    raise exception using errcode = 'PS004', detail = 'payload',
      message = format('a payload of %s bytes exceeds the limit of %s', v_largest, v_queue.payload_limit),
      hint = 'Put the content into a table or the blob store and send its id.';
  end if;

  v_due := greatest(v_now, coalesce(_scheduled_at, v_now + coalesce(_delay, interval '0')));
  v_lane := internal.lane(v_queue.queue_id, v_priority + 1, v_tenant_id);

  v_mode := coalesce(_on_duplicate, v_type.on_duplicate::text);
  v_scope := case when v_mode = 'wait' then format('line %s', coalesce(v_tenant_id::text, ''))
    else format('unique %s %s', coalesce(v_tenant_id::text, ''), _task_type) end;
  v_straight := v_due <= v_now and _unique_keys is null and _limit_keys is null;
  if v_straight then
    with taken as (
      insert into queues.task (
        task_id, task_type, payload, large_payload, enqueued_at, scheduled_at, queue_id, priority, tenant_id, time_limit,
        max_attempts)
      select nextval('queues.task_id_seq'), _task_type, case when not l.is_large then p.payload end,
        case when l.is_large then to_json(p.payload) end, v_now, v_due, v_queue.queue_id, v_priority,
        v_tenant_id, coalesce(_time_limit, v_type.time_limit), _max_attempts
      from unnest(_payloads) as p (payload)
      cross join lateral (select pg_column_size(p.payload) > v_inline as is_large) l
      returning task_id
    ), shown as (
      insert into queues.ready (lane, seq, task_id, failures, losses, held)
      select v_lane, t.task_id, t.task_id, 0, 0, 0 from taken t
    )
    select array_agg(t.task_id), exists (select from queues.idle i where i.queue_id = v_queue.queue_id),
      exists (select from internal.watcher)
    into v_ids, v_awaited, v_watched
    from taken t;
  else
    with taken as (
      insert into queues.task (
        task_id, task_type, payload, large_payload, enqueued_at, scheduled_at, queue_id, priority, tenant_id, time_limit,
        max_attempts, unique_key, on_duplicate, limit_key)
      select nextval('queues.task_id_seq'), _task_type, case when not l.is_large then p.payload end,
        case when l.is_large then to_json(p.payload) end, v_now, v_due, v_queue.queue_id, v_priority,
        v_tenant_id, coalesce(_time_limit, v_type.time_limit), _max_attempts,
        internal.key_hash(v_scope, p.unique_key),
        case when p.unique_key is not null then v_mode::queues.on_duplicate end,
        internal.key_hash(format('limit %s', v_queue.queue_id), p.limit_key)
      from unnest(_payloads, _unique_keys, _limit_keys) as p (payload, unique_key, limit_key)
      cross join lateral (select pg_column_size(p.payload) > v_inline as is_large) l
      returning task_id, unique_key, limit_key
    ), shown as (
      insert into queues.waiting (
        queue_id, due_at, seq, task_id, lane, failures, losses, held, keyed, tenant_id)
      select v_queue.queue_id, v_due, t.task_id, t.task_id, v_lane, 0, 0, 0,
        t.unique_key is not null or t.limit_key is not null, v_tenant_id
      from taken t
      where v_mode <> 'wait' or v_due > v_now or t.unique_key is null
    ), in_line as (
      insert into queues.parked (key, priority, seq, task_id, lane, queue_id, failures, losses, held, tenant_id)
      select t.unique_key, 0, t.task_id, t.task_id, v_lane, v_queue.queue_id, 0, 0, 0, v_tenant_id
      from taken t
      where v_mode = 'wait' and v_due <= v_now and t.unique_key is not null
      returning key
    ), told as (
      insert into queues.freed (queue_id, key, task_id)
      select distinct v_queue.queue_id, l.key, 0 from in_line l
    )
    select array_agg(t.task_id), exists (select from queues.idle i where i.queue_id = v_queue.queue_id),
      exists (select from internal.watcher)
    into v_ids, v_awaited, v_watched
    from taken t;
  end if;

  if v_awaited and v_queue.paused_at is null then
    perform queues.wake(v_queue.queue_id, v_straight);
  end if;
  -- A worker that serves the queue tells pages itself, at most twice a second; where none does, nobody else would.
  if v_watched and internal.watched_until() is not null
    and (v_queue.paused_at is not null or not queues.is_served(v_queue.queue_name))
  then
    perform queues.announce(array_remove(array[v_tenant_id], null));
  end if;
  return v_ids;
end;
$$;
