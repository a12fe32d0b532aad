-- Tasks in one state by their place in it: pending ones in the order in which they run or are due, ended ones newest first.
-- `_after` is the place of the last row of the previous page. Each state is read along an index, so that a page costs the
-- same however many there are; the settings forbid what the planner would choose for tables without statistics. Of ended ones
-- `_scan` says how far to search (scan_ended).
create or replace function queues.scan_tasks(
  _state text, _queue_id smallint, _sees_all boolean, _tenant_id uuid, _after text, _limit integer, _scan bigint
)
returns table (task_id bigint, attempt integer, at timestamptz, worker_id integer, place text)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_first bigint := coalesce(split_part(_after, '.', 1), '-1')::bigint;
  v_second bigint := coalesce(nullif(split_part(_after, '.', 2), ''), '-1')::bigint;
  v_time timestamptz := case when _state in ('waiting', 'dead') then timestamptz 'epoch' + v_first * interval '1 microsecond' end;
  v_from bigint := coalesce(internal.first_lane(_queue_id), 0);
  v_to bigint := coalesce(internal.first_lane(_queue_id + 1), 9223372036854775807);
  v_lanes bigint[];
  v_count integer;
begin
  if _state = 'ready' and _sees_all then
    return query
    select r.task_id, r.failures + 1, null::timestamptz, null::integer, r.lane || '.' || r.seq
    from queues.ready r
    where r.lane >= v_from and r.lane < v_to and (r.lane, r.seq) > (v_first, v_second)
    order by r.lane, r.seq limit _limit;
  elsif _state = 'ready' then
    select array_agg(l.lane order by l.lane) into v_lanes
    from queues.tenant_lanes(_tenant_id, _queue_id) l where l.lane > v_first;
    return query
    select r.task_id, r.failures + 1, null::timestamptz, null::integer, r.lane || '.' || r.seq
    from queues.ready r where r.lane = v_first and r.seq > v_second order by r.lane, r.seq limit _limit;
    get diagnostics v_count = row_count;
    return query
    select r.task_id, r.failures + 1, null::timestamptz, null::integer, r.lane || '.' || r.seq
    from queues.ready r where r.lane = any (v_lanes) order by r.lane, r.seq limit _limit - v_count;
  elsif _state = 'running' then
    return query
    select l.task_id, l.failures + 1, l.claimed_at, l.worker_id, l.lease_id::text
    from queues.lease l
    where l.lane >= v_from and l.lane < v_to and l.lease_id > v_first
      and (_sees_all or (_tenant_id is null and l.tenant_id is null) or l.tenant_id = _tenant_id)
    order by l.lease_id limit _limit;
  elsif _state = 'waiting' then
    return query
    select w.task_id, w.failures + 1, w.due_at, null::integer,
      (extract(epoch from w.due_at) * 1000000)::bigint || '.' || w.seq
    from queues.queue q
    cross join lateral (
      select o.* from queues.waiting o
      where o.queue_id = q.queue_id and o.task_id is not null
        and (_after is null or (o.due_at, o.seq) > (v_time, v_second))
        and (_sees_all or (_tenant_id is null and o.tenant_id is null) or o.tenant_id = _tenant_id)
      order by o.due_at, o.seq limit _limit
    ) w
    where _queue_id is null or q.queue_id = _queue_id
    order by w.due_at, w.seq limit _limit;
  elsif _state = 'parked' then
    return query
    select p.task_id, p.failures + 1, null::timestamptz, null::integer, p.queue_id || '.' || p.seq
    from queues.parked p
    where (_queue_id is null or p.queue_id = _queue_id) and (p.queue_id, p.seq) > (v_first::smallint, v_second)
      and (_sees_all or (_tenant_id is null and p.tenant_id is null) or p.tenant_id = _tenant_id)
    order by p.queue_id, p.seq limit _limit;
  elsif _state = 'dead' then
    return query
    select d.task_id, d.attempts::integer, d.died_at, null::integer,
      (extract(epoch from d.died_at) * 1000000)::bigint || '.' || d.task_id
    from queues.dead_letter d
    where (_queue_id is null or d.queue_id = _queue_id)
      and (_after is null or (d.died_at, d.task_id) < (v_time, v_second))
      and (_sees_all or (_tenant_id is null and d.tenant_id is null) or d.tenant_id = _tenant_id)
    order by d.died_at desc, d.task_id desc limit _limit;
  else
    return query select e.* from queues.scan_ended(_state, _sees_all, _tenant_id, v_first, _limit, _scan) e;
  end if;
end;
$$;
