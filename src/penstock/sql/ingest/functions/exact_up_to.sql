-- The largest number of items that the preview of an operation counts one by one, as the lists do; a larger one is an estimate, and
-- marked as such.
create or replace function ingest.exact_up_to()
returns bigint
language sql
immutable
parallel safe
as $$
  select 10000;
$$;
