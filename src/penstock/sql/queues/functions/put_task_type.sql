-- Declares a task type; declaring it again with other options changes them for tasks enqueued or failing later.
-- `_payload_schema` is the JSON schema of its payload, for forms; a worker that sends none leaves the known one.
-- Written only when something differs, so that a hundred workers starting at once write one row once.
create or replace function queues.put_task_type(
  _task_type text,
  _queue text default 'default',
  _priority integer default 5,
  _max_attempts integer default 5,
  _max_losses integer default 3,
  _retry jsonb default null,
  _on_duplicate text default 'skip',
  _time_limit interval default null,
  _required_keys text[] default '{}',
  _payload_schema jsonb default null
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_retry jsonb := coalesce(_retry, '{"default": {"kind": "exponential", "base": 1, "factor": 4, "cap": 3600, "jitter": 0.25}}');
begin
  if _task_type is null or _task_type !~ '^[A-Za-z][A-Za-z0-9_.:-]{0,126}$' then
    raise exception using errcode = 'PS005', detail = 'task_type',
      message = format('%L is not a valid name for a task type', _task_type),
      hint = 'Use a letter, then letters, digits, _ . : or -, at most 127.';
  end if;
  if _priority not between 0 and 9 then
    raise exception using errcode = 'PS005', detail = 'priority',
      message = format('priority %s is not between 0 and 9', _priority),
      hint = 'Use 0 for the most urgent and 9 for the least.';
  end if;
  if _max_attempts <= 0 or _max_losses <= 0 or _time_limit <= interval '0' then
    raise exception using errcode = 'PS005',
      detail = case when _max_attempts <= 0 then 'max_attempts' when _max_losses <= 0 then 'max_losses'
        else 'time_limit' end,
      message = format('the attempts, losses and time limit of %L must be positive', _task_type),
      hint = 'Use numbers above zero, or omit the time limit to have none.';
  end if;
  if _on_duplicate not in ('skip', 'replace', 'coalesce', 'wait') then
    raise exception using errcode = 'PS005', detail = 'on_duplicate',
      message = format('%L is not a way to treat duplicates', _on_duplicate),
      hint = 'Use skip, replace, coalesce or wait.';
  end if;
  -- Every number is validated here: one that retry_delay could not read would keep fail() from closing the lease.
  if jsonb_typeof(v_retry) <> 'object' or jsonb_typeof(coalesce(v_retry -> 'errors', '{}')) <> 'object' or exists (
    select
    from jsonb_path_query(
      jsonb_build_array(v_retry -> 'default') || jsonb_path_query_array(v_retry, '$.errors.*'), '$[*]') as p (policy)
    where not coalesce(p.policy @@ '$.kind == "none"
      || $.kind == "table" && $.delays.type() == "array"
        && !exists($.delays[*] ? (@.type() != "number" || @ < 0))
      || $.kind == "exponential" && $.base >= 0 && $.factor >= 1
        && !exists($.keyvalue() ? (@.key != "kind" && (@.value.type() != "number" || @.value < 0)))', false))
  then
    raise exception using errcode = 'PS005', detail = 'retry',
      message = format('the retry policy of %L is not valid', _task_type),
      hint = 'Give {"default": {"kind": "none" | "table" with "delays" | "exponential" with "base" and "factor"}, "errors": {…}}.';
  end if;

  insert into queues.task_type as t (
    task_type, queue_id, priority, max_attempts, max_losses, retry, on_duplicate, time_limit, required_keys,
    declared_at, payload_schema)
  values (
    _task_type, queues.put_queue(_queue), _priority, _max_attempts, _max_losses, v_retry,
    _on_duplicate::queues.on_duplicate, _time_limit, _required_keys, internal.clock(), _payload_schema)
  on conflict (task_type) do update set
    queue_id = excluded.queue_id,
    priority = excluded.priority,
    max_attempts = excluded.max_attempts,
    max_losses = excluded.max_losses,
    retry = excluded.retry,
    on_duplicate = excluded.on_duplicate,
    time_limit = excluded.time_limit,
    required_keys = excluded.required_keys,
    declared_at = excluded.declared_at,
    payload_schema = coalesce(excluded.payload_schema, t.payload_schema)
  where (t.queue_id, t.priority, t.max_attempts, t.max_losses, t.retry, t.on_duplicate, t.time_limit, t.required_keys,
      t.payload_schema)
    is distinct from
    (excluded.queue_id, excluded.priority, excluded.max_attempts, excluded.max_losses, excluded.retry,
      excluded.on_duplicate, excluded.time_limit, excluded.required_keys,
      coalesce(excluded.payload_schema, t.payload_schema));
end;
$$;
