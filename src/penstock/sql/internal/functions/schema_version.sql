-- The number of the newest migration, for processes that may not read the ledger: they compare it with their own when they
-- start. Locks: none. Errors: none.
create or replace function internal.schema_version()
returns integer
language sql
stable
security definer
set search_path = ''
as $$
  select coalesce(max(m.version), 0)
  from internal.migration as m
$$;
