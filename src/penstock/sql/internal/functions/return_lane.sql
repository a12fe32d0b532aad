-- The lane a task comes back by, same queue and tenant: class 0, claimed first. A task that two workers were
-- lost with is a suspect and comes back by class 63, of which a worker gets one at a time: the leases of a dead
-- worker return together, and claimed together again they would die together and all be quarantined.
create or replace function internal.return_lane(_lane bigint, _losses integer)
returns bigint
language sql
immutable
parallel safe
as $$
  select _lane & ~(63::bigint << 40) | case when _losses >= 2 then 63::bigint << 40 else 0 end;
$$;
