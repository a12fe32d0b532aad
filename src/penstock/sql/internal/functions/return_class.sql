-- The class of lanes for tasks that come back: retried, rescued, released, replayed. Claimed first, capped at half.
create or replace function internal.return_class()
returns integer
language sql
immutable
parallel safe
as $$
  select 0;
$$;
