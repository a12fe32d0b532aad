-- How long after its last failure a process tries again: 5 s, 20 s, 80 s and so on, an hour at most.
create or replace function internal.backoff(_failures integer)
returns interval
language sql
immutable
parallel safe
as $$
  select least(interval '1 hour', interval '5 seconds' * 4 ^ least(greatest(_failures, 1) - 1, 10));
$$;
