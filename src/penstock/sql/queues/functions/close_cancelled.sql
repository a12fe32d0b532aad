-- Closes leases of a worker as cancelled, for good: the handler said so, or it was asked to stop and did.
-- Returns the leases it really closed.
-- Locks: the leases, in order of their id; a bitmap or sequential scan would take them as they lie.
create or replace function queues.close_cancelled(_worker_id integer, _lease_ids bigint[])
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
    returning l.*
  loop
    perform queues.note_attempt(v_lease, 'cancelled');
    delete from queues.cancel c where c.task_id = v_lease.task_id;
    if v_lease.held <> 0 then
      perform queues.free_keys(array[v_lease.task_id], true);
    end if;
    v_closed := v_closed || v_lease.lease_id;
  end loop;
  return v_closed;
end;
$$;
