-- Takes tokens from a key's bucket by appending a grant with the new theoretical arrival time.
create or replace function queues.rate_take(_key bytea, _count integer, _period interval, _taken integer)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into queues.rate_grant (key, granted_at, granted, arrival_at)
  select _key, internal.clock(), _taken,
    greatest(internal.clock(), coalesce(
      (select g.arrival_at from queues.rate_grant g where g.key = _key order by g.grant_id desc limit 1),
      internal.clock())) + _period / _count * _taken;
$$;
