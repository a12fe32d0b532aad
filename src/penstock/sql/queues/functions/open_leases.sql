-- The leases a worker has held for a while. If the answer to a claim was lost, the worker has leases it does not know of,
-- and its heartbeats would keep them for ever: it compares this list with its own and hands the unknown ones back.
create or replace function queues.open_leases(_worker_id integer, _held_for interval default interval '5 seconds')
returns bigint[]
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(l.lease_id), '{}')
  from queues.lease l
  where l.worker_id = _worker_id and l.claimed_at < internal.clock() - _held_for;
$$;
