-- Notes that nothing needs a secret of the tenant any more; all_tenants.sweep_orphans() removes it later. Until then it can
-- be read. Returns false if there is none, or it was noted before. Raises PS012.
create or replace function vault.orphan_secret(_secret_id uuid)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update vault.secret s set orphaned_at = internal.clock()
  where s.tenant_id = internal.require_tenant() and s.secret_id = _secret_id and s.orphaned_at is null;
  return found;
end;
$$;
