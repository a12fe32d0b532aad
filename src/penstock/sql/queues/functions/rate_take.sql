-- Takes tokens from a key's bucket by appending a grant with the new theoretical arrival time. The bucket is read
-- as rate_room reads it. The caller holds the key's lock.
create or replace function queues.rate_take(
  _key bytea, _count integer, _period interval, _burst integer, _taken integer
)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into queues.rate_grant (key, granted_at, granted, arrival_at)
  select _key, internal.clock(), _taken,
    greatest(internal.clock(), (
      select least(g.arrival_at, g.granted_at + _period / _count * coalesce(_burst, greatest(1, _count / 10)))
      from queues.rate_grant g where g.key = _key order by g.grant_id desc limit 1)) + _period / _count * _taken;
$$;
