-- How long to wait after this many failures: the first wait, multiplied by the factor for each further failure, at most
-- the longest wait.
create or replace function internal.exponential(_first interval, _factor double precision, _most interval, _failures integer)
returns interval
language sql
immutable
parallel safe
as $$
  -- In seconds: an interval would overflow before least() could cut it.
  select make_interval(secs => least(
    extract(epoch from _most)::double precision,
    extract(epoch from _first)::double precision * _factor ^ least(greatest(_failures, 1) - 1, 30)));
$$;
