-- What is known about the tokens of a source of the tenant, without the tokens: which secrets it points at, when the access
-- token expires, and the newest generation of each purpose in the vault. A newer generation than the source points at was
-- stored by a process that died before it could point the source at it. Raises PS012, PS013.
create or replace function ingest.tokens_of(
  _source_id uuid,
  out kind text,
  out account text,
  out status text,
  out status_message text,
  out access_id uuid,
  out access_generation integer,
  out refresh_id uuid,
  out refresh_generation integer,
  out expires_at timestamptz,
  out newest_access_id uuid,
  out newest_access_generation integer,
  out newest_refresh_id uuid,
  out newest_refresh_generation integer,
  out now timestamptz
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  select
    s.kind, s.account, s.status, s.status_message, s.access_token_vault_id, a.generation, s.refresh_token_vault_id, r.generation,
    s.token_expires_at, na.secret_id, na.generation, nr.secret_id, nr.generation, internal.clock()
  into
    kind, account, status, status_message, access_id, access_generation, refresh_id, refresh_generation, expires_at,
    newest_access_id, newest_access_generation, newest_refresh_id, newest_refresh_generation, now
  from ingest.source s
  left join vault.secret a on a.tenant_id = s.tenant_id and a.secret_id = s.access_token_vault_id
  left join vault.secret r on r.tenant_id = s.tenant_id and r.secret_id = s.refresh_token_vault_id
  left join lateral vault.newest_secret(s.source_id, 'access_token') na on true
  left join lateral vault.newest_secret(s.source_id, 'refresh_token') nr on true
  where s.tenant_id = internal.require_tenant() and s.source_id = _source_id and s.removed_at is null;
  if not found then
    raise exception using errcode = 'PS013', detail = 'source_id',
      message = format('there is no source %s', _source_id),
      hint = 'List the sources of this tenant: penstock source list';
  end if;
end;
$$;
