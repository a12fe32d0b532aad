-- How long mill.announce waits after a failure before it tries again:
-- 5 seconds at first, 4 times as long after each further failure, at most 1 hour.
create or replace function mill.announce_backoff(_failures integer)
returns interval
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select internal.exponential(interval '5 seconds', 4, interval '1 hour', _failures);
$$;
