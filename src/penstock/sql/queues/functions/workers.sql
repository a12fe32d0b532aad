-- The workers that are alive or were lost within a day, with what they hold of the caller's tasks and the versions they run;
-- with `_stopped` also those that stopped within a day.
create or replace function queues.workers(_stopped boolean default false)
returns table (
  worker_id integer, worker_name text, queue_names text[], started_at timestamptz, silent_seconds double precision,
  lost_at timestamptz, leases bigint, stopped_at timestamptz, versions jsonb, lease_seconds double precision,
  state text
)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select w.worker_id, w.worker_name, w.queue_names, w.started_at,
    extract(epoch from internal.clock() - w.beat_at)::double precision, w.lost_at,
    (select count(*) from queues.lease l where l.worker_id = w.worker_id and internal.may_see(l.tenant_id)),
    w.stopped_at, w.versions, extract(epoch from w.lease_for)::double precision, queues.worker_state(w)
  from queues.worker w
  where w.worker_id > 0 and (w.stopped_at is null or (_stopped and w.stopped_at > internal.clock() - interval '1 day'))
    and (w.lost_at is null or w.lost_at > internal.clock() - interval '1 day')
  order by w.worker_id;
$$;
