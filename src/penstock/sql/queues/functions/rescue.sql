-- Takes back the leases of workers whose heartbeats stopped and leases past their own deadline, up to _limit, and never
-- waits: a lease locked by a transaction that is closing it is left for the next round. Losing a worker is not an error of
-- the task: losses are counted separately, and max_losses of them put the task in quarantine; more of them while workers are lost
-- without it (queues.needed_losses).
-- Once a worker is marked lost, its heartbeats and claims are refused and its late closes have no effect.
-- Locks: the rows of silent workers and their leases, all skip locked.
create or replace function queues.rescue(_limit integer default 1000)
returns table (task_id bigint, worker_id integer, outcome text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
  v_lease queues.lease;
  v_max integer;
begin
  update queues.worker w set
    lost_at = v_now, lost_leases = (select count(*) from queues.lease o where o.worker_id = w.worker_id)
  where w.worker_id = any (array(
    select s.worker_id
    from queues.worker s
    where s.stopped_at is null and s.lost_at is null and s.beat_at < v_now - s.lease_for
    for update skip locked));

  for v_lease in
    delete from queues.lease l
    where l.ctid = any (array(
      select c.ctid
      from (
        select s.worker_id from queues.worker s
        where s.lost_at is not null or s.stopped_at is not null
      ) w
      cross join lateral (
        select o.ctid from queues.lease o where o.worker_id = w.worker_id limit _limit for update skip locked
      ) c
      limit _limit))
    or l.ctid = any (array(
      select o.ctid from queues.lease o where o.deadline_at < v_now limit _limit for update skip locked))
    returning l.*
  loop
    task_id := v_lease.task_id;
    worker_id := v_lease.worker_id;
    perform queues.note_attempt(v_lease, 'lost');
    if queues.end_if_cancelled(v_lease) then
      outcome := 'cancelled';
      return next;
      continue;
    end if;

    select y.max_losses into v_max
    from queues.find_task(v_lease.task_id) t join queues.task_type y on y.task_type = t.task_type;
    if v_lease.losses + 1 >= v_max
      and v_lease.losses + 1 >= queues.needed_losses(v_lease.task_id, v_lease.worker_id, v_max)
    then
      perform queues.note_error(
        v_lease.task_id, v_lease, v_lease.failures + 1, 'WorkerLost',
        format('worker %s was lost while it ran this task', v_lease.worker_id), null);
      perform queues.bury(
        v_lease, v_lease.failures, v_lease.losses + 1, 'quarantined', 'WorkerLost',
        format('%s workers were lost while they ran this task', v_lease.losses + 1));
      outcome := 'quarantined';
    else
      perform queues.return_task(v_lease, v_lease.failures, v_lease.losses + 1, v_now);
      outcome := 'returned';
    end if;
    return next;
  end loop;
end;
$$;
