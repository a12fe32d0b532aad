-- When to look again after an attempt that has no outcome yet: half a minute, then as long as it has lasted, an hour at
-- most. Its handlers wake the supervisor sooner.
create or replace function internal.watch_after(_attempted_at timestamptz)
returns timestamptz
language sql
stable
parallel safe
as $$
  select internal.clock()
    + least(interval '1 hour', greatest(interval '30 seconds', internal.clock() - _attempted_at));
$$;
