-- Checks the queue's promises on live data: one row per broken promise, none when all hold.
create or replace function queues.audit_invariants()
returns table (promise text, broken bigint)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  with pending as (
    select r.task_id, 'ready' as place from queues.ready r
    union all select w.task_id, 'waiting' from queues.waiting w where w.task_id is not null
    union all select p.task_id, 'parked' from queues.parked p
    union all select l.task_id, 'lease' from queues.lease l
    union all select d.task_id, 'dead' from queues.dead_letter d
  ), checks as (
    select 'a task is in one place' as promise, count(*) as broken
    from (select p.task_id from pending p group by p.task_id having count(*) > 1) x
    union all
    select 'a pending task has its row', count(*)
    from pending p
    where p.place <> 'dead' and not exists (select from queues.task t where t.task_id = p.task_id)
      and not exists (select from queues.task_kept k where k.task_id = p.task_id)
    union all
    select 'a lease belongs to a known worker', count(*)
    from queues.lease l where not exists (select from queues.worker w where w.worker_id = l.worker_id)
    union all
    select 'a held key belongs to a pending task', count(*)
    from queues.held h
    where not exists (select from pending p where p.task_id = h.task_id and p.place <> 'dead')
      and not exists (select from queues.freed f where f.key = h.key and f.task_id = h.task_id)
    union all
    select 'a parked task has a reason to wait', count(*)
    from queues.parked p
    where not exists (select from queues.held h where h.key = p.key)
      and not exists (select from queues.freed f where f.key = p.key)
      and not exists (select from queues.waiting w where w.wake_key = p.key)
  )
  select c.promise, c.broken from checks c where c.broken > 0;
$$;
