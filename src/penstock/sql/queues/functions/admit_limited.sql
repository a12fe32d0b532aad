-- Second gate: a task that holds its unique key (or has none) goes to ready, or through its limit key first.
-- False when the limit key is busy in another transaction: the caller postpones the task instead of waiting.
create or replace function queues.admit_limited(
  _task_id bigint,
  _queue_id smallint,
  _lane bigint,
  _failures integer,
  _losses integer,
  _held integer,
  _tenant_id uuid,
  _unique_key bytea,
  _limit_key bytea,
  _priority integer
)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ticket record;
begin
  if _limit_key is null then
    select s.lane, s.seq into v_ticket from queues.show_ready(_lane, _task_id, _failures, _losses, _held) s;
    if _unique_key is not null then
      update queues.held h set lane = v_ticket.lane, seq = v_ticket.seq
      where h.key = _unique_key and h.task_id = _task_id;
    end if;
    return true;
  end if;
  if not internal.try_key_lock(_limit_key) then
    return false;
  end if;
  perform queues.settle_key(_limit_key);
  insert into queues.parked (key, priority, seq, task_id, lane, queue_id, failures, losses, held, tenant_id)
  values (
    _limit_key, case when _failures + _losses > 0 then -1 else _priority end, nextval('queues.task_id_seq'),
    _task_id, _lane, _queue_id, _failures, _losses, _held, _tenant_id);
  perform queues.drain_key(_limit_key, _queue_id);
  return true;
end;
$$;
