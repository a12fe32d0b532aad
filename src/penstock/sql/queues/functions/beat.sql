-- One heartbeat renews all leases of a worker. Raises PS009 when the worker was declared lost: it must discard what it
-- holds and register again. Returns its tasks that were asked to stop, and a row without a lease if the worker itself was.
create or replace function queues.beat(_worker_id integer)
returns table (lease_id bigint, reason text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_stop_asked_by text;
begin
  update queues.worker w set beat_at = internal.clock()
  where w.worker_id = _worker_id and w.lost_at is null and w.stopped_at is null
  returning w.stop_asked_by into v_stop_asked_by;
  if not found then
    raise exception using errcode = 'PS009', detail = 'worker_id',
      message = format('worker %s is not registered, or was declared lost', _worker_id),
      hint = 'Discard what it holds and call queues.register_worker().';
  end if;
  return query
  select c.lease_id, c.reason from queues.cancel c where c.worker_id = _worker_id
  union all
  select null, v_stop_asked_by where v_stop_asked_by is not null;
end;
$$;
