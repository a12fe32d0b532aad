-- Points a source at newly stored tokens, if it still points at the ones that were read before (the previous secret and the
-- previous expiry); false if somebody else was faster. The secrets it pointed at are orphaned. A null _refresh_id keeps
-- the refresh token: the provider did not rotate it. Locks: the source's row. Raises PS012, PS013, PS017.
create or replace function ingest.set_tokens(
  _source_id uuid,
  _access_id uuid,
  _refresh_id uuid,
  _expires_at timestamptz,
  _previous_access_id uuid,
  _previous_expires_at timestamptz
)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source ingest.source := ingest.lock_source(_source_id);
begin
  if v_source.access_token_vault_id is distinct from _previous_access_id
    or v_source.token_expires_at is distinct from _previous_expires_at
  then
    return false;
  end if;
  -- The foreign keys that are not there: only this source's own secrets will do.
  if (
    select count(*) from vault.secret s
    where s.tenant_id = v_source.tenant_id and s.source_id = _source_id
      and ((s.secret_id = _access_id and s.purpose = 'access_token')
        or (s.secret_id = _refresh_id and s.purpose = 'refresh_token'))
  ) <> num_nonnulls(_access_id, _refresh_id) or _access_id is null
  then
    raise exception using errcode = 'PS013', detail = 'secret_id',
      message = format('the tokens are not secrets of source %s', _source_id), hint = 'Store them in the vault first.';
  end if;
  update ingest.source s set
    access_token_vault_id = _access_id, refresh_token_vault_id = coalesce(_refresh_id, s.refresh_token_vault_id),
    token_expires_at = _expires_at, updated_at = internal.clock()
  where s.source_id = _source_id;
  if v_source.access_token_vault_id <> _access_id then
    perform vault.orphan_secret(v_source.access_token_vault_id);
  end if;
  if v_source.refresh_token_vault_id <> _refresh_id then
    perform vault.orphan_secret(v_source.refresh_token_vault_id);
  end if;
  -- An adopted generation may have been noted as orphaned meanwhile.
  update vault.secret s set orphaned_at = null
  where s.tenant_id = v_source.tenant_id and s.secret_id in (_access_id, _refresh_id) and s.orphaned_at is not null;
  return true;
end;
$$;
