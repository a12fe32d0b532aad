-- The only clock SQL decides by: the time the caller's statement began.
-- Stable, so that it can be an index condition (volatile, a scan of 200,000 waiting rows took 38 ms
-- instead of 0.03). Tests replace this function by one that reads a setting; production has no such door.
create or replace function internal.clock()
returns timestamptz
language sql
stable
parallel safe
as $$
  select statement_timestamp();
$$;
