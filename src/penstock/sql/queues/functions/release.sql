-- Hands leases of a worker back without running them and without charging an attempt: at shutdown, or for prefetched tasks
-- it cannot start. A task that was asked to stop ends here, cancelled. Returns the leases it closed.
-- Locks: the leases, in order of their id; a bitmap or sequential scan would take them in physical order.
create or replace function queues.release(
  _worker_id integer, _lease_ids bigint[], _task_ids bigint[] default null
)
returns bigint[]
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_lease queues.lease;
  v_closed bigint[] := '{}';
begin
  for v_lease in
    delete from queues.lease l
    where l.worker_id = _worker_id and l.lease_id = any (_lease_ids)
      and (_task_ids is null or (l.lease_id, l.task_id) in (
        select i.lease_id, i.task_id from unnest(_lease_ids, _task_ids) as i (lease_id, task_id)))
    returning l.*
  loop
    perform queues.note_attempt(v_lease, 'released');
    if not queues.end_if_cancelled(v_lease) then
      perform queues.return_task(v_lease, v_lease.failures, v_lease.losses, internal.clock());
    end if;
    v_closed := v_closed || v_lease.lease_id;
  end loop;
  return v_closed;
end;
$$;
