-- Gives a freed key to the next task parked behind it. False when the key is busy in another transaction.
create or replace function queues.hand_over(_key bytea, _queue_id smallint)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_task record;
  v_keys record;
begin
  if not internal.try_key_lock(_key) then
    return false;
  end if;
  perform queues.settle_key(_key);

  select p.* into v_task from queues.parked p where p.key = _key order by p.priority, p.seq limit 1;
  if not found then
    return true;
  end if;
  select t.unique_key, t.limit_key, t.priority into v_keys from queues.find_task(v_task.task_id) t;
  if v_keys.unique_key is distinct from _key then
    perform queues.drain_key(_key, v_task.queue_id);
    if v_task.queue_id <> _queue_id then
      perform queues.wake(v_task.queue_id);
    end if;
    return true;
  end if;

  if exists (select from queues.held h where h.key = _key) then
    return true;
  end if;
  if v_keys.limit_key is not null and not internal.try_key_lock(v_keys.limit_key) then
    insert into queues.freed (queue_id, key, task_id) values (_queue_id, _key, 0);
    return true;
  end if;
  delete from queues.parked p where p.key = _key and p.priority = v_task.priority and p.seq = v_task.seq;
  insert into queues.held (key, task_id, held_at) values (_key, v_task.task_id, internal.clock());
  perform queues.admit_limited(
    v_task.task_id, v_task.queue_id, v_task.lane, v_task.failures, v_task.losses, v_task.held | 1,
    v_task.tenant_id, _key, v_keys.limit_key, v_keys.priority);
  if v_task.queue_id <> _queue_id then
    perform queues.wake(v_task.queue_id);
  end if;
  return true;
end;
$$;
