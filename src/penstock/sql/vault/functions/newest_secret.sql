-- The highest generation of what a source of the tenant needs for a purpose: no row if it has none. One that is newer than
-- what the source points at, and not orphaned, was stored by a process that died before it could point the source at it.
-- Raises PS012.
create or replace function vault.newest_secret(_source_id uuid, _purpose text)
returns table (secret_id uuid, generation integer, created_at timestamptz, orphaned_at timestamptz)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select s.secret_id, s.generation, s.created_at, s.orphaned_at
  from vault.secret s
  where s.tenant_id = internal.require_tenant() and s.source_id = _source_id and s.purpose = _purpose
  order by s.generation desc
  limit 1;
$$;
