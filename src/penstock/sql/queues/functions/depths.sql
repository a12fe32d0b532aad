-- Ready tasks by queue and task type, for the metrics. At most _limit rows per queue are looked up by type, so that a
-- worker can ask four times a minute however many wait; the rest count as the type "other". A declared type without a
-- ready task is listed with 0.
create or replace function queues.depths(_limit integer default 20000)
returns table (queue text, task_type text, ready bigint)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  with seen as materialized (
    select q.queue_id, r.task_id
    from queues.queue q
    cross join lateral (
      select c.task_id from queues.ready c
      where c.lane >= internal.first_lane(q.queue_id) and c.lane < internal.first_lane(q.queue_id + 1)
      limit _limit
    ) r
  ), typed as (
    select s.queue_id, t.task_type, count(*) as ready
    from seen s
    join (
      select k.task_id, k.task_type from queues.task k where k.task_id = any (array(select i.task_id from seen i))
      union all
      select k.task_id, k.task_type from queues.task_kept k
      where k.task_id = any (array(select i.task_id from seen i))
    ) t using (task_id)
    group by 1, 2
  ), beyond as (
    select q.queue_id, count(r.task_id) - (select count(*) from seen s where s.queue_id = q.queue_id) as ready
    from queues.queue q
    join queues.ready r on r.lane >= internal.first_lane(q.queue_id) and r.lane < internal.first_lane(q.queue_id + 1)
    group by 1
  ), counted as (
    select * from typed
    union all
    select b.queue_id, 'other', b.ready from beyond b where b.ready > 0
    union all
    select y.queue_id, y.task_type, 0 from queues.task_type y
  )
  select q.queue_name, c.task_type, sum(c.ready)::bigint
  from counted c join queues.queue q using (queue_id)
  group by 1, 2
  order by 1, 2;
$$;
