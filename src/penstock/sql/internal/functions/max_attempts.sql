-- How many times a process tries before it is stuck.
create or replace function internal.max_attempts()
returns integer
language sql
immutable
parallel safe
as $$
  select 5;
$$;
