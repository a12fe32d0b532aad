-- How many lost workers prove that a task kills them: max_losses of its type if every worker that was lost within the last hour
-- while it ran something was lost with this task, twice as many if workers are lost anyway: some that ran other tasks, or some
-- that registered again, because they were frozen or cut off. Workers lost with a task that is in quarantine by now do not
-- count: that task explains them. So three kills convict a task, and on a bad day, with kills, restarts and frozen machines, a
-- task that was there by chance is not mistaken for the cause.
create or replace function queues.needed_losses(_task_id bigint, _worker_id integer, _max_losses integer)
returns integer
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_since timestamptz := internal.clock() - interval '1 hour';
  v_with_it integer[];
begin
  -- Leases of dequeue_next_available_task() belong to nobody who could be lost.
  if _worker_id = 0 then
    return _max_losses;
  end if;
  select array_agg(a.worker_id) || _worker_id into v_with_it
  from queues.attempt a where a.task_id = _task_id and a.outcome = 'lost';
  if exists (
    select
    from queues.worker w
    where w.worker_id > 0 and w.lost_at > v_since
      and (
        w.lost_leases > 0 and w.worker_id <> all (v_with_it)
        and not exists (
          select
          from (
            select d.task_id from queues.dead_letter d
            where d.reason = 'quarantined' and d.died_at > v_since
            order by d.died_at desc limit 20
          ) q
          join queues.attempt e on e.task_id = q.task_id
          where e.worker_id = w.worker_id and e.outcome = 'lost')
        or exists (select from queues.worker n where n.replaces = w.worker_id)))
  then
    return 2 * _max_losses;
  end if;
  return _max_losses;
end;
$$;
