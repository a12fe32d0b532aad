-- Notes that closed tasks no longer use their keys; the next admit hands the keys over. It only appends, so a close inside
-- a long transaction blocks nobody. A task that will run again keeps its unique key and gives up its slot, so that a long
-- backoff does not hold the slot.
create or replace function queues.free_keys(_task_ids bigint[], _for_good boolean)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_queue_id smallint;
begin
  insert into queues.freed (queue_id, key, task_id)
  select t.queue_id, k.key, t.task_id
  from unnest(_task_ids) as i (task_id)
  cross join lateral queues.find_task(i.task_id) t
  cross join lateral (
    values (t.limit_key), (case when _for_good then t.unique_key end)
  ) as k (key)
  where k.key is not null;

  for v_queue_id in
    select distinct t.queue_id
    from unnest(_task_ids) as i (task_id)
    cross join lateral queues.find_task(i.task_id) t
  loop
    perform queues.wake(v_queue_id);
  end loop;
end;
$$;
