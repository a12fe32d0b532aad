-- One row per queue for a person who looks: depths, what holds it back, who serves it, and how fast it went in the last hour.
-- A tenant sees its own tasks only. Counts end at 10,000: `approximate` says that one of them is an estimate. Raises PS012.
create or replace function queues.figures(_queue text default null, _tenant_id uuid default null)
returns table (
  queue text, paused boolean, paused_by text, paused_at timestamptz, ready bigint, running bigint, waiting bigint,
  parked bigint, dead bigint, approximate boolean, oldest_ready_seconds double precision, max_running integer, rate text,
  workers bigint, idle_workers bigint, per_minute double precision, p95_wait_seconds double precision,
  p95_run_seconds double precision
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
  v_tenant_id uuid := coalesce(internal.scope(), _tenant_id);
  v_sees_all boolean := v_tenant_id is null;
  v_now timestamptz := internal.clock();
begin
  return query
  with counted as materialized (
    select q.*, n.ready, n.running, n.waiting, n.parked, n.dead
    from queues.queue q
    cross join lateral (
      select
        queues.count_state('ready', q.queue_id, v_sees_all, v_tenant_id) as ready,
        queues.count_state('running', q.queue_id, v_sees_all, v_tenant_id) as running,
        queues.count_state('waiting', q.queue_id, v_sees_all, v_tenant_id) as waiting,
        queues.count_state('parked', q.queue_id, v_sees_all, v_tenant_id) as parked,
        queues.count_state('dead', q.queue_id, v_sees_all, v_tenant_id) as dead
      offset 0
    ) n
    where _queue is null or q.queue_name = _queue
  )
  select
    c.queue_name, c.paused_at is not null, c.paused_by, c.paused_at,
    case when c.ready > 10000 then queues.estimate('ready', c.queue_id, v_tenant_id) else c.ready end,
    case when c.running > 10000 then queues.estimate('running', c.queue_id, v_tenant_id) else c.running end,
    case when c.waiting > 10000 then queues.estimate('waiting', c.queue_id, v_tenant_id) else c.waiting end,
    c.parked,
    case when c.dead > 10000 then queues.estimate('dead', c.queue_id, v_tenant_id) else c.dead end,
    greatest(c.ready, c.running, c.waiting, c.parked, c.dead) > 10000,
    (
      select extract(epoch from v_now - min(t.scheduled_at))::double precision
      from (
        select f.lane from queues.find_lanes(c.queue_id) f where v_sees_all
        union all
        select l.lane from queues.tenant_lanes(v_tenant_id, c.queue_id) l where not v_sees_all
      ) f
      cross join lateral (
        select r.task_id from queues.ready r where r.lane = f.lane order by r.lane, r.seq limit 1
      ) r
      cross join lateral queues.find_task(r.task_id) t
    ),
    c.max_running, c.rate_count || ' per ' || c.rate_period,
    (select count(*) from queues.worker w
      where w.stopped_at is null and w.lost_at is null and w.worker_id > 0 and c.queue_name = any (w.queue_names)
        and w.beat_at > v_now - w.lease_for),
    (select count(*) from queues.idle i where i.queue_id = c.queue_id and coalesce(i.load, 0) between 0 and 9),
    (
      select coalesce(sum(s.done), 0)::double precision / 5 from queues.sample s
      where ((v_tenant_id is null and s.tenant_id is null) or s.tenant_id = v_tenant_id) and s.queue_id = c.queue_id
        and s.minute >= date_trunc('minute', v_now) - interval '6 minutes'
        and s.minute < date_trunc('minute', v_now) - interval '1 minute'),
    internal.quantile(array(
      select sum(h.counted) from queues.sample s cross join unnest(s.waited) with ordinality as h (counted, n)
      where ((v_tenant_id is null and s.tenant_id is null) or s.tenant_id = v_tenant_id) and s.queue_id = c.queue_id
        and s.minute >= v_now - interval '1 hour'
      group by h.n order by h.n)::bigint[]),
    internal.quantile(array(
      select sum(h.counted) from queues.sample s cross join unnest(s.ran) with ordinality as h (counted, n)
      where ((v_tenant_id is null and s.tenant_id is null) or s.tenant_id = v_tenant_id) and s.queue_id = c.queue_id
        and s.minute >= v_now - interval '1 hour'
      group by h.n order by h.n)::bigint[])
  from counted c
  order by c.queue_name;
end;
$$;
