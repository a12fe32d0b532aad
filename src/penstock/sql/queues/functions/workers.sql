-- The workers that are alive or were lost within a day, with what they hold.
create or replace function queues.workers()
returns table (
  worker_id integer, worker_name text, queue_names text[], started_at timestamptz, silent_seconds double precision,
  lost_at timestamptz, leases bigint
)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select w.worker_id, w.worker_name, w.queue_names, w.started_at,
    extract(epoch from internal.clock() - w.beat_at)::double precision, w.lost_at,
    (select count(*) from queues.lease l where l.worker_id = w.worker_id)
  from queues.worker w
  where w.worker_id > 0 and w.stopped_at is null
  order by w.worker_id;
$$;
