-- Closes leases of a worker as cancelled, for good: the handler asked for it, or was asked to stop and did.
-- A reason that the handler gave is kept as an error of the task. Returns the leases it closed.
-- Locks: the leases, in order of their id; a bitmap or sequential scan would take them in physical order.
create or replace function queues.close_cancelled(
  _worker_id integer, _lease_ids bigint[], _reasons text[] default null, _task_ids bigint[] default null
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
  v_reason text;
begin
  for v_lease in
    delete from queues.lease l
    where l.worker_id = _worker_id and l.lease_id = any (_lease_ids)
      and (_task_ids is null or (l.lease_id, l.task_id) in (
        select i.lease_id, i.task_id from unnest(_lease_ids, _task_ids) as i (lease_id, task_id)))
    returning l.*
  loop
    perform queues.note_attempt(v_lease, 'cancelled');
    v_reason := _reasons[array_position(_lease_ids, v_lease.lease_id)];
    if v_reason <> '' then
      perform queues.note_error(v_lease.task_id, v_lease, v_lease.failures + 1, 'Cancelled', v_reason, null);
    end if;
    delete from queues.cancel c where c.task_id = v_lease.task_id;
    if v_lease.held <> 0 then
      perform queues.free_keys(array[v_lease.task_id], true);
    end if;
    perform queues.note_bad_end(v_lease.task_id, 'Cancelled' || coalesce(': ' || nullif(v_reason, ''), ''));
    v_closed := v_closed || v_lease.lease_id;
  end loop;
  return v_closed;
end;
$$;
