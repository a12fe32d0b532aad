-- A queue's samples of the last hours in at most 168 steps: depths as they were last in each step, what ended in it, and how
-- long nineteen of twenty tasks waited and ran, from the four busiest minutes of a step. A tenant sees its own tasks only.
-- Raises PS002, PS012.
create or replace function queues.history(_queue text, _hours integer default 1, _tenant_id uuid default null)
returns table (
  at timestamptz, ready bigint, running bigint, waiting bigint, dead bigint, done bigint, failed bigint,
  p95_wait_seconds double precision, p95_run_seconds double precision
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
  v_queue_id smallint := (queues.get_queue(_queue)).queue_id;
  v_tenant_id uuid := coalesce(internal.scope(), _tenant_id);
  v_step interval := case when _hours <= 1 then interval '1 minute' when _hours <= 24 then interval '10 minutes'
    else interval '1 hour' end;
  v_last timestamptz := date_bin(v_step, internal.clock(), timestamptz 'epoch');
begin
  return query
  with seen as materialized (
    select date_bin(v_step, s.minute, timestamptz 'epoch') as step, s.minute, s.ready, s.running, s.waiting, s.dead, s.done,
      s.failed
    from queues.sample s
    where ((v_tenant_id is null and s.tenant_id is null) or s.tenant_id = v_tenant_id)
      and s.queue_id = v_queue_id and s.minute >= v_last - make_interval(hours => _hours)
  ), busiest as materialized (
    select p.step, s.waited, s.ran
    from (
      select o.step, o.minute, row_number() over (partition by o.step order by o.done desc, o.minute) as place from seen o
    ) p
    join queues.sample s on s.minute = p.minute and s.queue_id = v_queue_id
      and ((v_tenant_id is null and s.tenant_id is null) or s.tenant_id = v_tenant_id)
    where p.place <= 4
  ), waited as (
    select b.step, internal.quantile(array_agg(b.counted order by b.n)) as p95
    from (
      select s.step, h.n, sum(h.counted)::bigint as counted
      from busiest s cross join unnest(s.waited) with ordinality as h (counted, n) group by 1, 2
    ) b group by 1
  ), ran as (
    select b.step, internal.quantile(array_agg(b.counted order by b.n)) as p95
    from (
      select s.step, h.n, sum(h.counted)::bigint as counted
      from busiest s cross join unnest(s.ran) with ordinality as h (counted, n) group by 1, 2
    ) b group by 1
  )
  select t.step, l.ready, l.running, l.waiting, l.dead, t.done, t.failed, w.p95, r.p95
  from (
    select s.step, sum(s.done)::bigint as done, sum(s.failed)::bigint as failed,
      max(s.minute) filter (where s.ready is not null) as minute
    from seen s group by s.step
  ) t
  left join seen l on l.minute = t.minute
  left join waited w on w.step = t.step
  left join ran r on r.step = t.step
  order by t.step;
end;
$$;
