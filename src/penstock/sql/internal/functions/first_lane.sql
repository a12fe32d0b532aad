-- The lowest lane of a queue: its lanes are >= first_lane(queue_id) and < first_lane(queue_id + 1), one index range.
create or replace function internal.first_lane(_queue_id integer)
returns bigint
language sql
immutable
parallel safe
as $$
  select _queue_id::bigint << 46;
$$;
