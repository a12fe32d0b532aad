-- How many tasks are in each queue now, by tenant, and with a null tenant of all tenants: every queue, and tenants that have
-- something in it. A lane's tenant is that of its first task.
create or replace function queues.count_depths()
returns table (queue_id smallint, tenant_id uuid, ready bigint, running bigint, waiting bigint, dead bigint)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  with counted as (
    select q.queue_id, t.tenant_id, 'ready' as state, c.tasks
    from queues.queue q
    cross join lateral queues.find_lanes(q.queue_id) f
    cross join lateral (select r.task_id from queues.ready r where r.lane = f.lane and r.seq = f.seq) r
    cross join lateral queues.find_task(r.task_id) t
    cross join lateral (
      select count(*) as tasks from (select from queues.ready o where o.lane = f.lane limit 1000000) o
    ) c
    union all
    select internal.lane_queue(l.lane), l.tenant_id, 'running', count(*) from queues.lease l group by 1, 2
    union all
    select w.queue_id, w.tenant_id, 'waiting', count(*) from queues.waiting w where w.task_id is not null group by 1, 2
    union all
    select d.queue_id, d.tenant_id, 'dead', count(*) from queues.dead_letter d group by 1, 2
  ), each as (
    select c.queue_id, c.tenant_id, c.state, c.tasks from counted c where c.tenant_id is not null
    union all
    select c.queue_id, null, c.state, c.tasks from counted c
    union all
    select q.queue_id, null, 'ready', 0 from queues.queue q
  )
  select e.queue_id, e.tenant_id,
    coalesce(sum(e.tasks) filter (where e.state = 'ready'), 0)::bigint,
    coalesce(sum(e.tasks) filter (where e.state = 'running'), 0)::bigint,
    coalesce(sum(e.tasks) filter (where e.state = 'waiting'), 0)::bigint,
    coalesce(sum(e.tasks) filter (where e.state = 'dead'), 0)::bigint
  from each e group by 1, 2;
$$;
