-- The lane a task comes back by, in the same queue and of the same tenant. A task that two workers were lost with is a
-- suspect and runs one at a time: the leases of a dead worker return together, and if they were claimed together again,
-- they could take the next worker down together and all be quarantined.
create or replace function internal.return_lane(_lane bigint, _losses integer)
returns bigint
language sql
immutable
parallel safe
as $$
  select internal.first_lane(internal.lane_queue(_lane))
    | ((case when _losses >= 2 then internal.suspect_class() else internal.return_class() end)::bigint << 40)
    | internal.lane_tenant(_lane);
$$;
