-- The number of the newest migration of each of the user's own SQL folders, for processes that may not read the ledger: they
-- compare it with their own when they start. Locks: none. Errors: none.
create or replace function internal.own_versions()
returns jsonb
language sql
stable
security definer
set search_path = ''
as $$
  select coalesce(pg_catalog.jsonb_object_agg(v.folder, v.version), '{}')
  from (select m.folder, max(m.version) as version from internal.own_migration as m group by m.folder) as v
$$;
