-- The return lane of a lane: same queue and tenant, class 0.
create or replace function internal.return_lane(_lane bigint)
returns bigint
language sql
immutable
parallel safe
as $$
  select _lane & ~(63::bigint << 40);
$$;
