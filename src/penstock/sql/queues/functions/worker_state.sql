-- How a worker is: alive, stopping (it was asked to), silent (it missed its heartbeats), lost (its tasks were taken back) or stopped.
create or replace function queues.worker_state(_worker queues.worker)
returns text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select case
    when _worker.stopped_at is not null then 'stopped'
    when _worker.lost_at is not null then 'lost'
    when _worker.beat_at < internal.clock() - _worker.lease_for then 'silent'
    when _worker.stop_asked_at is not null then 'stopping'
    else 'alive' end;
$$;
