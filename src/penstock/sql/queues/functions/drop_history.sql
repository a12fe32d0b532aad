-- Drops partitions that were closed longer ago than the retention. Unfinished tasks in one (a task scheduled 400 days
-- ahead, for example) move to task_kept first. Closing a lease writes into the partition of attempts that holds its id, so
-- that partition stays while such a lease is open. Takes the parent's exclusive lock for a moment; after half a second it
-- leaves the rest for the next round.
create or replace function queues.drop_history(_parent text, _retention interval)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '500ms'
as $$
declare
  v_old queues.partition;
  v_dropped integer := 0;
begin
  for v_old in
    select * from queues.partition p
    where p.parent = _parent and p.closed_at < internal.clock() - _retention
      and not (_parent = 'attempt' and exists (
        select from queues.lease l where l.lease_id >= p.from_id and l.lease_id < p.to_id))
    order by p.from_id
  loop
    begin
      execute format('alter table queues.%I detach partition queues.%I', _parent, v_old.child);
    exception when lock_not_available then
      exit;
    end;
    if _parent = 'task' then
      execute format(
        'insert into queues.task_kept (
           task_id, task_type, payload, large_payload, enqueued_at, scheduled_at, queue_id, priority, tenant_id, unique_key,
           on_duplicate, limit_key, time_limit, max_attempts, kept_at)
         select t.task_id, t.task_type, t.payload, t.large_payload, t.enqueued_at, t.scheduled_at, t.queue_id, t.priority,
           t.tenant_id, t.unique_key, t.on_duplicate, t.limit_key, t.time_limit, t.max_attempts,
           internal.clock()
         from queues.%I t
         where t.task_id in (
           select r.task_id from queues.ready r
           union all select w.task_id from queues.waiting w where w.task_id is not null
           union all select p.task_id from queues.parked p
           union all select l.task_id from queues.lease l)
         on conflict (task_id) do nothing', v_old.child);
    end if;
    execute format('drop table queues.%I', v_old.child);
    delete from queues.partition p where p.child = v_old.child;
    v_dropped := v_dropped + 1;
  end loop;
  return v_dropped;
end;
$$;
