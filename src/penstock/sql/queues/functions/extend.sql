-- Gives a lease that has its own deadline more time from now; a lease that lasts as long as its worker's heartbeats is not
-- changed. False when the lease is gone. Raises PS005.
create or replace function queues.extend(_worker_id integer, _lease_id bigint, _seconds double precision)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if _seconds <= 0 then
    raise exception using errcode = 'PS005', detail = 'seconds',
      message = format('cannot extend a lease by %s seconds', _seconds),
      hint = 'Give a number above zero.';
  end if;
  update queues.lease l set deadline_at = internal.clock() + make_interval(secs => _seconds)
  where l.worker_id = _worker_id and l.lease_id = _lease_id and l.deadline_at is not null;
  return found or queues.holds(_worker_id, _lease_id);
end;
$$;
