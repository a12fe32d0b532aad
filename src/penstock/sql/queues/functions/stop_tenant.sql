-- Stops a tenant's lanes for good: nothing more is enqueued; ready, waiting and parked tasks are deleted; running tasks are
-- asked to stop. One queue is spared, that of the process that does the stopping. Returns how much is left to wait for: open
-- leases, plus one while a transaction runs that may not have seen the stop. Call it again until it returns 0.
-- Locks: the rows it deletes, waiting for a claim that has one of them.
create or replace function queues.stop_tenant(_tenant_id uuid, _spared_queue text)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spared smallint := (select q.queue_id from queues.queue q where q.queue_name = _spared_queue);
  v_now timestamptz := internal.clock();
  v_mark xid8;
  v_lease queues.lease;
  v_open integer := 0;
begin
  insert into queues.stopped_tenant (tenant_id, spared_queue_id, stopped_at) values (_tenant_id, v_spared, v_now)
  on conflict do nothing;
  if found then
    return 1 + (select count(*)::integer from queues.lease l where l.tenant_id = _tenant_id);
  end if;
  -- The stop is committed: a transaction that gets its id from now on sees it.
  update queues.stopped_tenant s set mark = pg_snapshot_xmax(pg_current_snapshot())
  where s.tenant_id = _tenant_id and s.mark is null;
  select s.mark into v_mark from queues.stopped_tenant s where s.tenant_id = _tenant_id;

  perform queues.empty_lanes(_tenant_id, v_spared);

  for v_lease in
    select l.* from queues.lease l
    where l.tenant_id = _tenant_id and internal.lane_queue(l.lane) is distinct from v_spared
    order by l.worker_id, l.lease_id
  loop
    v_open := v_open + 1;
    insert into queues.cancel (task_id, worker_id, lease_id, reason, requested_at, requested_by)
    values (v_lease.task_id, v_lease.worker_id, v_lease.lease_id, 'its tenant was deleted', v_now, session_user)
    on conflict do nothing;
    perform pg_notify('penstock_cancel', v_lease.worker_id::text);
  end loop;
  return v_open + case when pg_snapshot_xmin(pg_current_snapshot()) < v_mark then 1 else 0 end;
end;
$$;
