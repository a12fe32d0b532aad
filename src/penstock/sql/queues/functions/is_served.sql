-- Whether a worker that is alive serves this queue: not stopped, not lost, and heard of within its lease.
create or replace function queues.is_served(_queue text)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from queues.worker w
    where w.stopped_at is null and w.lost_at is null and w.worker_id > 0 and w.beat_at > internal.clock() - w.lease_for
      and _queue = any (w.queue_names));
$$;
