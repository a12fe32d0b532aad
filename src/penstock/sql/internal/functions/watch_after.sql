-- When to check again while an attempt has no outcome yet: after half a minute, later after as long as it has lasted, at most
-- after an hour. Its handlers wake the supervisor sooner.
create or replace function internal.watch_after(_attempted_at timestamptz)
returns timestamptz
language sql
stable
parallel safe
as $$
  select internal.clock()
    + least(interval '1 hour', greatest(interval '30 seconds', internal.clock() - _attempted_at));
$$;
