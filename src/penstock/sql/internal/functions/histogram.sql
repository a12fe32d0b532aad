-- An array of 46 counts from an object of counts by internal.bucket(); empty for none.
create or replace function internal.histogram(_counts jsonb)
returns bigint[]
language sql
immutable
parallel safe
as $$
  select case when _counts is null or _counts = '{}' then '{}'::bigint[] else array(
    select coalesce((_counts ->> g.n::text)::bigint, 0) from generate_series(1, 46) as g (n) order by g.n) end;
$$;
