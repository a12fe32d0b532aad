-- The tenant's part of a lane: the lower 40 bits of a hash of its id, 0 for tasks without a tenant.
create or replace function internal.lane_tenant(_lane bigint)
returns bigint
language sql
immutable
parallel safe
as $$
  select _lane & 1099511627775;
$$;
