-- One page of tasks in a state, with their place, which is the `_after` of the next page: rows that are added or leave
-- meanwhile neither repeat nor hide another. What no index can find (a task type; the queue of an ended task) is looked for
-- among the next `_scan` tasks only; if that ends the search before the page is full, a last row without a task says where
-- it stopped. An operator sees all tenants, or the one that is named. Raises PS005. No scans in sequence: where a table was
-- not analyzed yet, PostgreSQL 15 and 16 would read all tasks to find those of a page.
create or replace function queues.page_tasks(
  _state text default 'running',
  _queue text default null,
  _task_type text default null,
  _tenant_id uuid default null,
  _after text default null,
  _limit integer default 50,
  _scan bigint default 10000
)
returns table (
  task_id bigint, task_type text, queue text, state text, attempt integer, enqueued_at timestamptz, at timestamptz,
  worker_id integer, tenant_id uuid, worker text, place text
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_ended boolean := _state not in ('running', 'ready', 'waiting', 'parked', 'dead');
  v_sees_all boolean := internal.sees_all() and _tenant_id is null;
  v_tenant_id uuid := case when internal.sees_all() then _tenant_id else internal.tenant_id() end;
  v_queue_id smallint := (select q.queue_id from queues.queue q where q.queue_name = _queue);
  v_narrowed boolean := _task_type is not null or (v_ended and _queue is not null);
  v_batch integer := case when v_narrowed then 2000 when v_ended then greatest(_limit, 500) else _limit end;
  v_after text := _after;
  v_left integer := _limit;
  v_count integer;
  v_ids bigint[];
  v_attempts integer[];
  v_times timestamptz[];
  v_workers integer[];
  v_places text[];
begin
  if v_ended and not exists (select from unnest(enum_range(null::queues.outcome)) as o (name) where o.name::text = _state) then
    raise exception using errcode = 'PS005', detail = 'state',
      message = format('%L is not a state of a task', _state),
      hint = 'Use running, ready, waiting, parked, dead, completed, failed, lost, snoozed, cancelled, released, skipped, merged or replaced.';
  end if;
  if _after !~ '^[0-9]{1,18}([.][0-9]{1,18})?$' then
    raise exception using errcode = 'PS005', detail = 'cursor',
      message = 'this is not the cursor of a page of tasks', hint = 'Use the cursor of the previous page, or none.';
  end if;
  if _queue is not null and v_queue_id is null then
    return;
  end if;
  loop
    select array_agg(s.task_id order by s.n), array_agg(s.attempt order by s.n), array_agg(s.at order by s.n),
      array_agg(s.worker_id order by s.n), array_agg(s.place order by s.n)
    into v_ids, v_attempts, v_times, v_workers, v_places
    from queues.scan_tasks(
      _state, case when v_ended then null else v_queue_id end, v_sees_all, v_tenant_id, v_after, v_batch, _scan)
      with ordinality as s (task_id, attempt, at, worker_id, place, n);
    exit when v_ids is null;
    return query
    select m.task_id, m.task_type, q.queue_name, _state, m.attempt, m.enqueued_at, m.at, m.worker_id, m.tenant_id,
      w.worker_name, m.place
    from (
      select distinct on (f.n) f.n, f.task_id, t.task_type, t.queue_id, f.attempt, t.enqueued_at, f.at, f.worker_id,
        t.tenant_id, f.place
      from unnest(v_ids, v_attempts, v_times, v_workers, v_places) with ordinality
        as f (task_id, attempt, at, worker_id, place, n)
      join (
        select t.task_id, t.task_type, t.enqueued_at, t.queue_id, t.tenant_id
        from queues.task t where t.task_id = any (v_ids) and _state <> 'dead'
        union all
        select k.task_id, k.task_type, k.enqueued_at, k.queue_id, k.tenant_id
        from queues.task_kept k where k.task_id = any (v_ids) and _state <> 'dead'
        union all
        select d.task_id, d.task_type, d.enqueued_at, d.queue_id, d.tenant_id
        from queues.dead_letter d where d.task_id = any (v_ids) and _state = 'dead'
      ) t on t.task_id = f.task_id
      -- + 0: not by an index of queues, which would read all of the queue's dead letters.
      where (_task_type is null or t.task_type = _task_type) and (v_queue_id is null or t.queue_id + 0 = v_queue_id)
      order by f.n limit v_left
    ) m
    join queues.queue q on q.queue_id = m.queue_id
    left join queues.worker w on w.worker_id = m.worker_id
    order by m.n;
    get diagnostics v_count = row_count;
    v_left := v_left - v_count;
    v_count := cardinality(v_ids);
    v_after := v_places[v_count];
    _scan := _scan - v_count;
    exit when v_left <= 0 or (v_count < v_batch and v_ids[v_count] is not null);
    if v_ids[v_count] is null or _scan <= 0 then
      return query select null::bigint, null, null, null, null::integer, null::timestamptz, null::timestamptz, null::integer,
        null::uuid, null, v_after;
      return;
    end if;
  end loop;
end;
$$;
