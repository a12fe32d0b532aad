-- The queue a lane belongs to.
create or replace function internal.lane_queue(_lane bigint)
returns smallint
language sql
immutable
parallel safe
as $$
  select (_lane >> 46)::smallint;
$$;
