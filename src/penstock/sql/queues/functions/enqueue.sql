-- Enqueues one task in the caller's own transaction and returns its id. The short
-- call queues.enqueue(_task_type, _payload, _scheduled_at) is this one: there are no overloads.
create or replace function queues.enqueue(
  _task_type text,
  _payload jsonb default '{}',
  _scheduled_at timestamptz default null,
  _delay interval default null,
  _queue text default null,
  _priority integer default null,
  _tenant_id uuid default null,
  _unique_key text default null,
  _on_duplicate text default null,
  _limit_key text default null,
  _time_limit interval default null,
  _max_attempts integer default null
)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (queues.enqueue_many(
    _task_type, array[_payload], _scheduled_at, _delay, _queue, _priority, _tenant_id,
    case when _unique_key is not null then array[_unique_key] end, _on_duplicate,
    case when _limit_key is not null then array[_limit_key] end, _time_limit, _max_attempts))[1];
end;
$$;
