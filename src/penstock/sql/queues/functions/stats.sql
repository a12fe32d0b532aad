-- One row per queue: how many tasks wait, run and died, how old the oldest ready task is, and what holds the queue back.
create or replace function queues.stats(_queue text default null)
returns table (
  queue text,
  paused boolean,
  ready bigint,
  running bigint,
  waiting bigint,
  parked bigint,
  dead bigint,
  oldest_ready_seconds double precision,
  max_running integer,
  rate text,
  workers bigint,
  idle_workers bigint
)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    q.queue_name,
    q.paused_at is not null,
    (select count(*) from queues.ready r
      where r.lane >= internal.first_lane(q.queue_id) and r.lane < internal.first_lane(q.queue_id + 1)),
    (select count(*) from queues.lease l
      where l.lane >= internal.first_lane(q.queue_id) and l.lane < internal.first_lane(q.queue_id + 1)),
    (select count(*) from queues.waiting w where w.queue_id = q.queue_id and w.task_id is not null),
    (select count(*) from queues.parked p where p.queue_id = q.queue_id),
    (select count(*) from queues.dead_letter d where d.queue_id = q.queue_id),
    (select extract(epoch from internal.clock() - min(t.scheduled_at))::double precision
      from queues.find_lanes(q.queue_id) f
      join queues.ready r on r.lane = f.lane and r.seq = f.seq
      cross join lateral queues.find_task(r.task_id) t),
    q.max_running,
    q.rate_count || ' per ' || q.rate_period,
    (select count(*) from queues.worker w
      where w.stopped_at is null and w.lost_at is null and w.worker_id > 0 and q.queue_name = any (w.queue_names)
        and w.beat_at > internal.clock() - w.lease_for),
    (select count(*) from queues.idle i where i.queue_id = q.queue_id and coalesce(i.load, 0) between 0 and 9)
  from queues.queue q
  where _queue is null or q.queue_name = _queue
  order by q.queue_name;
$$;
