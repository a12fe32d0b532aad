-- Whether a worker still holds a lease. After a connection died during commit this says what happened: if the lease is
-- still held, the commit did not happen.
create or replace function queues.holds(_worker_id integer, _lease_id bigint)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from queues.lease l where l.worker_id = _worker_id and l.lease_id = _lease_id);
$$;
