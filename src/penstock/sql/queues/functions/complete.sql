-- Closes leases of a worker as completed and returns those it closed: deleting the lease is the fence, so a worker that was
-- declared lost closes nothing. Group completion calls it with hundreds.
-- _task_ids are the tasks the caller believes it holds: after a crash that lost commits, or a failover to a replica that
-- lagged, lease ids are issued again, and the id alone could close another task. They are looked up in a hash of pairs, which
-- is what the "or" makes of the subquery; compared by "= any" each lease met every task id, for half the cost of a close.
-- Locks: the leases, in order of their id.
create or replace function queues.complete(
  _worker_id integer, _lease_ids bigint[], _task_ids bigint[] default null
)
returns bigint[]
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_closed bigint[];
  v_keyed bigint[];
begin
  with closed as (
    delete from queues.lease l
    where l.worker_id = _worker_id and l.lease_id = any (_lease_ids)
      and (_task_ids is null or (l.lease_id, l.task_id) in (
        select i.lease_id, i.task_id from unnest(_lease_ids, _task_ids) as i (lease_id, task_id)))
    returning l.lease_id, l.task_id, l.claimed_at, l.tenant_id, l.failures, l.held
  ), kept as (
    insert into queues.attempt (attempt_id, task_id, claimed_at, closed_at, tenant_id, worker_id, outcome, attempt_number)
    select c.lease_id, c.task_id, c.claimed_at, internal.clock(), c.tenant_id, _worker_id, 'completed', c.failures + 1
    from closed c
  )
  select array_agg(c.lease_id), array_agg(c.task_id) filter (where c.held <> 0)
  into v_closed, v_keyed
  from closed c;

  if v_keyed is not null then
    perform queues.free_keys(v_keyed, true);
  end if;
  return coalesce(v_closed, '{}');
end;
$$;
