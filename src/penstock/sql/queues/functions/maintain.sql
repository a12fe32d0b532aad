-- Keeps the queue small: creates partitions ahead and drops old ones; removes old dead letters, rows that crashed workers
-- left, used rate grants and answered cancels. One caller at a time (advisory try-lock); the others get null.
create or replace function queues.maintain(
  _completed_retention interval default interval '7 days',
  _dead_retention interval default interval '90 days'
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
  v_made integer;
  v_dropped integer;
  v_dead integer;
  v_workers integer;
begin
  if not pg_try_advisory_xact_lock(7306573, 1) then
    return null;
  end if;
  delete from queues.dead_letter d
  where d.task_id = any (array(
    select x.task_id from queues.dead_letter x
    where x.died_at < v_now - _dead_retention
    order by x.died_at limit 10000
    for update skip locked));
  get diagnostics v_dead = row_count;

  delete from queues.idle i
  where not exists (
    select from queues.worker w
    where w.worker_id = i.worker_id and w.lost_at is null and w.stopped_at is null);
  delete from queues.worker w
  where w.worker_id > 0 and coalesce(w.stopped_at, w.lost_at) < v_now - greatest(_completed_retention, interval '1 day')
    and not exists (select from queues.lease l where l.worker_id = w.worker_id);
  get diagnostics v_workers = row_count;

  delete from queues.rate_grant g
  where g.granted_at < v_now - interval '1 hour' and g.arrival_at < v_now
    and exists (select from queues.rate_grant n where n.key = g.key and n.grant_id > g.grant_id);
  delete from queues.cancel c
  where c.requested_at < v_now - interval '1 hour'
    and not exists (select from queues.lease l where l.task_id = c.task_id);
  -- A row that a replay is renewing is locked, and skipped.
  delete from queues.task_kept k
  where k.task_id = any (array(
    select o.task_id
    from queues.task_kept o
    where o.kept_at < v_now - _completed_retention
      and not exists (select from queues.waiting w where w.task_id = o.task_id)
      and not exists (select from queues.parked p where p.task_id = o.task_id)
      and not exists (select from queues.ready r where r.task_id = o.task_id)
      and not exists (select from queues.lease l where l.task_id = o.task_id)
    for update of o skip locked));

  -- Last, because their exclusive locks last until the end of the transaction.
  v_made := queues.roll_partitions('task', 'queues.task_id_seq')
    + queues.roll_partitions('attempt', 'queues.lease_id_seq')
    + queues.roll_partitions('error', 'queues.error_id_seq');
  v_dropped := queues.drop_history('task', _completed_retention)
    + queues.drop_history('attempt', _completed_retention)
    + queues.drop_history('error', greatest(_completed_retention, _dead_retention));

  return jsonb_build_object(
    'partitions_made', v_made, 'partitions_dropped', v_dropped, 'dead_letters_removed', v_dead,
    'workers_forgotten', v_workers);
end;
$$;
