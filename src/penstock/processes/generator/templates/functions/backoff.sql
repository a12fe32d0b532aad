-- How long {{process}} waits after a failure before it tries again:
-- {{first_wait}} at first, {{wait_factor}} times as long after each further failure, at most {{longest_wait}}.
create or replace function {{schema}}.{{name}}_backoff(_failures integer)
returns interval
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select internal.exponential(interval '{{first_wait}}', {{wait_factor}}, interval '{{longest_wait}}', _failures);
$$;
