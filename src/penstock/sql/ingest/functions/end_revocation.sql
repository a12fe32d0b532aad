-- Notes how the revocation of a source's tokens ended, and deletes them, unless the source was connected again meanwhile: then
-- only those go that it does not point at. Locks: the revocation, the secrets. Raises PS012.
create or replace function ingest.end_revocation(_source_id uuid, _outcome text, _error_code text default null)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
begin
  update ingest.revocation r set
    ended_at = internal.clock(), outcome = _outcome,
    error_code = left(regexp_replace(_error_code, '[^A-Za-z0-9_.-]', '', 'g'), 100)
  where r.tenant_id = v_tenant_id and r.source_id = _source_id and r.ended_at is null;
  if not found then
    return;
  end if;
  delete from vault.secret x
  where x.tenant_id = v_tenant_id and x.source_id = _source_id and x.purpose in ('access_token', 'refresh_token')
    and x.orphaned_at is not null
    and not exists (
      select from ingest.source s
      where s.source_id = _source_id and x.secret_id in (s.access_token_vault_id, s.refresh_token_vault_id));
end;
$$;
