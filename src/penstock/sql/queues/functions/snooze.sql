-- Closes leases of a worker without charging an attempt and runs the tasks again after the given seconds.
-- Returns the leases it closed.
create or replace function queues.snooze(
  _worker_id integer, _lease_ids bigint[], _seconds double precision[], _task_ids bigint[] default null
)
returns bigint[]
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_n integer;
  v_lease queues.lease;
  v_closed bigint[] := '{}';
begin
  for v_n in select i.n from generate_subscripts(_lease_ids, 1) as i (n) order by _lease_ids[i.n] loop
    delete from queues.lease l
    where l.worker_id = _worker_id and l.lease_id = _lease_ids[v_n]
      and (_task_ids is null or l.task_id = _task_ids[v_n])
    returning l.* into v_lease;
    if found then
      perform queues.note_attempt(v_lease, 'snoozed');
      if not queues.end_if_cancelled(v_lease) then
        perform queues.return_task(
          v_lease, v_lease.failures, v_lease.losses,
          internal.clock() + make_interval(secs => greatest(0, _seconds[v_n])));
      end if;
      v_closed := v_closed || v_lease.lease_id;
    end if;
  end loop;
  return v_closed;
end;
$$;
