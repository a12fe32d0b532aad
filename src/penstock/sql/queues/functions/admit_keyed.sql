-- First gate: decides a task's unique key, then passes it on to its limit key. True when decided; false when
-- one of its keys is busy in another transaction and the caller must postpone it.
-- All changes to held and parked happen here and in hand_over, under the key's try-lock, so each key
-- has one writer, nobody waits and no wake-up is lost:
--   free key                    → hold it, go on
--   held, mode skip             → this task ends as skipped
--   holder has not started      → coalesce: this task ends as merged · replace: it takes the holder's place
--   mode wait                   → behind those in line; hand_over starts the first of them once the key is free
--   holder is running or waits  → one task is parked; coalesce merges later ones into it, replace swaps it
create or replace function queues.admit_keyed(
  _task_id bigint,
  _queue_id smallint,
  _lane bigint,
  _failures integer,
  _losses integer,
  _held integer,
  _tenant_id uuid
)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_task record;
  v_holder queues.held;
  v_other bigint;
begin
  select t.unique_key, t.on_duplicate, t.limit_key, t.priority into v_task
  from queues.find_task(_task_id) t;

  if v_task.unique_key is null or _held & 1 = 1 then
    return queues.admit_limited(
      _task_id, _queue_id, _lane, _failures, _losses, _held, _tenant_id, v_task.unique_key, v_task.limit_key,
      v_task.priority);
  end if;

  if not internal.try_key_lock(v_task.unique_key) then
    return false;
  end if;
  if v_task.limit_key is not null and not internal.try_key_lock(v_task.limit_key) then
    return false;
  end if;
  perform queues.settle_key(v_task.unique_key);
  if v_task.on_duplicate = 'wait' then
    insert into queues.parked (key, priority, seq, task_id, lane, queue_id, failures, losses, held, tenant_id)
    values (v_task.unique_key, 0, _task_id, _task_id, _lane, _queue_id, _failures, _losses, _held, _tenant_id);
    return queues.hand_over(v_task.unique_key, _queue_id);
  end if;
  select * into v_holder from queues.held h where h.key = v_task.unique_key;

  if not found then
    insert into queues.held (key, task_id, held_at) values (v_task.unique_key, _task_id, internal.clock());
    return queues.admit_limited(
      _task_id, _queue_id, _lane, _failures, _losses, _held | 1, _tenant_id, v_task.unique_key, v_task.limit_key,
      v_task.priority);
  end if;

  if v_task.on_duplicate = 'skip' then
    perform queues.note_end(_task_id, _failures, _tenant_id, 'skipped');
    return true;
  end if;

  -- The holder has not started while its ready row can be locked, or it is parked behind its limit key.
  select r.task_id into v_other
  from queues.ready r
  where r.lane = v_holder.lane and r.seq = v_holder.seq
  for update skip locked;
  if not found then
    select p.task_id into v_other
    from queues.parked p
    where p.task_id = v_holder.task_id and internal.try_key_lock(p.key);
  end if;

  if v_other is not null then
    if v_task.on_duplicate = 'coalesce' then
      perform queues.note_end(_task_id, _failures, _tenant_id, 'merged');
      return true;
    end if;
    delete from queues.ready r where r.lane = v_holder.lane and r.seq = v_holder.seq;
    delete from queues.parked p where p.task_id = v_other;
    insert into queues.freed (queue_id, key, task_id)
    select _queue_id, h.key, h.task_id from queues.held h where h.task_id = v_other and h.key <> v_task.unique_key;
    delete from queues.held h where h.task_id = v_other and h.key = v_task.unique_key;
    perform queues.note_end(v_other, 0, _tenant_id, 'replaced');
    insert into queues.held (key, task_id, held_at) values (v_task.unique_key, _task_id, internal.clock());
    return queues.admit_limited(
      _task_id, _queue_id, _lane, _failures, _losses, _held | 1, _tenant_id, v_task.unique_key, v_task.limit_key,
      v_task.priority);
  end if;

  if v_task.on_duplicate = 'coalesce' then
    if exists (select from queues.parked p where p.key = v_task.unique_key) then
      perform queues.note_end(_task_id, _failures, _tenant_id, 'merged');
      return true;
    end if;
  else
    for v_other in delete from queues.parked p where p.key = v_task.unique_key returning p.task_id loop
      perform queues.note_end(v_other, 0, _tenant_id, 'replaced');
    end loop;
  end if;
  insert into queues.parked (key, priority, seq, task_id, lane, queue_id, failures, losses, held, tenant_id)
  values (
    v_task.unique_key, v_task.priority, nextval('queues.task_id_seq'), _task_id, _lane, _queue_id,
    _failures, _losses, _held, _tenant_id);
  return true;
end;
$$;
