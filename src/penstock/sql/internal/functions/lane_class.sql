-- The class of a lane: return_class(), suspect_class(), or the priority + 1. Inlined into the statement that calls it.
create or replace function internal.lane_class(_lane bigint)
returns integer
language sql
immutable
parallel safe
as $$
  select (_lane >> 40 & 63)::integer;
$$;
