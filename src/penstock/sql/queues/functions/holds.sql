-- Whether a worker still holds a lease. After a connection died at commit it tells what happened: still held
-- means not committed.
create or replace function queues.holds(_worker_id integer, _lease_id bigint)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (select from queues.lease l where l.worker_id = _worker_id and l.lease_id = _lease_id);
$$;
