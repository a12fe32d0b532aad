-- Gives a worker up to _limit ready tasks of one queue, as open leases. One call does it all: admit what is due, pick,
-- delete the ready rows, insert the leases, read the tasks.
-- _lanes and _starts are the worker's marks, sorted by lane (see queues.probe). With _find the lanes are found here,
-- known ones from their mark; without it only the given lanes are searched.
-- Order: one suspect, if the worker has none; the return lane, capped at half; then by priority; within a priority the
-- lanes (tenants) share.
-- Without _durable the commit of the claim does not wait for the disk: a crash may undo it, and then the task is ready
-- again and the worker can close nothing. A close is flushed after its claim, so it never survives without it. Only for
-- a transaction that does nothing but claim.
-- `failures` and `losses` count earlier runs: those that failed, and those whose worker was lost. This run is attempt
-- failures + 1. The payload is json, not jsonb: a large one is stored as that text and leaves as it is.
-- _avoid skips the lanes of these tenants (internal.lane_tenant), for a worker whose slots for them are full.
-- With _pass_on, a worker that got as many tasks as it asked for is no longer woken for others while someone else can be, and if
-- there are more, the next worker that waits is woken.
-- The settings forbid every plan but the index scan: a plan cached while ready was empty once made a claim of 100 take
-- 3.3 s. Locks: the picked ready rows, skip locked. Raises PS002, PS009.
create or replace function queues.claim(
  _worker_id integer,
  _queue text,
  _limit integer default 1,
  _lanes bigint[] default null,
  _starts bigint[] default null,
  _admit boolean default true,
  _find boolean default true,
  _lease_for interval default null,
  _durable boolean default true,
  _avoid bigint[] default null,
  _pass_on boolean default false
)
returns table (
  lease_id bigint,
  task_id bigint,
  task_type text,
  payload json,
  failures smallint,
  losses smallint,
  held smallint,
  lane bigint,
  seq bigint,
  tenant_id uuid,
  time_limit double precision
)
language plpgsql
security definer
rows 100
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_nestloop = off
set enable_mergejoin = off
set enable_material = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_queue queues.queue;
  v_now timestamptz := internal.clock();
  v_left integer := _limit;
  v_room integer;
  v_classes integer[];
  v_class integer;
  v_in_class bigint[];
  v_starts bigint[];
  v_cap integer;
  v_got integer;
  v_returned boolean := false;
  v_returns constant integer := internal.return_class();
  v_suspects constant integer := internal.suspect_class();
begin
  select * into v_queue from queues.queue q where q.queue_name = _queue;
  if not found then
    raise exception using errcode = 'PS002', detail = 'queue',
      message = format('there is no queue %L', _queue),
      hint = 'Call queues.put_queue() first.';
  end if;
  if not exists (
    select from queues.worker w where w.worker_id = _worker_id and w.lost_at is null and w.stopped_at is null)
  then
    raise exception using errcode = 'PS009', detail = 'worker_id',
      message = format('worker %s is not registered, or was declared lost', _worker_id),
      hint = 'Call queues.register_worker() and claim with the id it returns.';
  end if;
  if v_queue.paused_at is not null or v_left <= 0 then
    return;
  end if;
  if not _durable then
    perform set_config('synchronous_commit', 'off', true);
  end if;
  if _admit then
    perform queues.admit(v_queue.queue_id);
  end if;
  if v_queue.max_running is not null or v_queue.rate_count is not null then
    v_left := queues.queue_room(v_queue, v_left);
    if v_left = 0 then
      return;
    end if;
  end if;
  v_room := v_left;

  if _find then
    select array_agg(f.lane), array_agg(f.seq) into _lanes, _starts
    from queues.find_lanes(v_queue.queue_id, coalesce(_lanes, '{}'), coalesce(_starts, '{}')) f;
  end if;
  if _avoid is not null then
    select array_agg(l.lane), array_agg(l.start) into _lanes, _starts
    from unnest(_lanes, _starts) as l (lane, start) where internal.lane_tenant(l.lane) <> all (_avoid);
  end if;
  if _lanes is null then
    return;
  end if;
  select array_agg(distinct internal.lane_class(l.lane)) into v_classes from unnest(_lanes) as l (lane);
  if v_classes[1] = v_returns and cardinality(v_classes) > 1 then
    v_classes := v_classes || v_returns;
  end if;
  if v_suspects = any (v_classes) then
    v_classes := v_suspects || array_remove(v_classes, v_suspects);
  end if;

  foreach v_class in array v_classes loop
    exit when v_left <= 0;
    if cardinality(v_classes) = 1 then
      v_in_class := _lanes;
      v_starts := _starts;
    else
      select array_agg(l.lane), array_agg(l.start) into v_in_class, v_starts
      from unnest(_lanes, _starts) as l (lane, start) where internal.lane_class(l.lane) = v_class;
    end if;
    v_cap := v_left;
    if v_class = v_returns and not v_returned and cardinality(v_classes) > 1 then
      v_cap := greatest(1, v_left / 2);
      v_returned := true;
    elsif v_class = v_suspects then
      v_cap := 1;
      continue when _worker_id <> 0 and exists (
        select from queues.lease l where l.worker_id = _worker_id and internal.lane_class(l.lane) = v_suspects);
    end if;
    -- Shuffled, so that what does not divide evenly goes to another lane each time. All of them, also when they
    -- are more than the cap: a lane whose rows another claim has locked must not hide one that has some.
    -- A large claim takes several tasks of a lane, from 128 lanes or so: of a thousand lanes with one each, two thirds of its time was
    -- for going to the next lane. Small claims, of long tasks, take one of each.
    if cardinality(v_in_class) > 1 then
      select array_agg(l.lane), array_agg(l.start) into v_in_class, v_starts
      from (select * from unnest(v_in_class, v_starts) as u (lane, start) order by random()) l;
    end if;

    loop
      return query
      with picked as (
        delete from queues.ready r
        where r.ctid = any (array(
          select p.ctid
          from unnest(v_in_class, v_starts) as l (lane, start)
          cross join lateral (
            select c.ctid
            from queues.ready c
            where c.lane = l.lane and c.seq >= l.start
            order by c.lane, c.seq
            limit greatest(1, v_cap / least(cardinality(v_in_class), 128))
            for update skip locked
          ) p
          limit v_cap))
        returning r.lane, r.seq, r.task_id, r.failures, r.losses, r.held
      ), described as (
        select
          nextval('queues.lease_id_seq') as lease_id, p.task_id, t.task_type, t.payload, p.failures, p.losses,
          p.held, p.lane, p.seq, t.tenant_id, extract(epoch from t.time_limit)::double precision as time_limit,
          v_now + coalesce(_lease_for, t.time_limit + interval '30 seconds') as deadline_at
        from picked p
        join (
          select k.task_id, k.task_type, coalesce(k.large_payload, to_json(k.payload)) as payload, k.tenant_id, k.time_limit
          from queues.task k where k.task_id = any (array(select i.task_id from picked i))
          union all
          select k.task_id, k.task_type, coalesce(k.large_payload, to_json(k.payload)), k.tenant_id, k.time_limit
          from queues.task_kept k where k.task_id = any (array(select i.task_id from picked i))
        ) t using (task_id)
      ), leased as (
        insert into queues.lease (
          lease_id, task_id, lane, claimed_at, deadline_at, tenant_id, worker_id, failures, losses, held)
        select d.lease_id, d.task_id, d.lane, v_now, d.deadline_at, d.tenant_id, _worker_id, d.failures, d.losses,
          d.held
        from described d
      )
      select d.lease_id, d.task_id, d.task_type, d.payload, d.failures, d.losses, d.held, d.lane, d.seq,
        d.tenant_id, d.time_limit
      from described d;
      get diagnostics v_got = row_count;
      v_left := v_left - v_got;
      v_cap := v_cap - v_got;
      exit when v_got = 0 or v_cap <= 0 or cardinality(v_in_class) = 1;
    end loop;
  end loop;

  if v_queue.rate_count is not null and v_room > v_left then
    perform queues.rate_take(
      internal.key_hash('queue', v_queue.queue_id::text), v_queue.rate_count, v_queue.rate_period,
      v_queue.rate_burst, v_room - v_left);
  end if;
  if _pass_on and v_room - v_left = _limit then
    perform queues.note_full(_worker_id, v_queue.queue_id, _lanes, _starts);
  end if;
end;
$$;
