-- Stores an API key by its hash; the caller shows the secret once. A tenant with a quota of keys cannot exceed it by creating
-- several at once. Locks: the tenant's quota of keys (advisory), if there is one. Raises PS012, PS017, PS020.
create or replace function accounts.create_key(
  _key_id uuid,
  _name text,
  _prefix text,
  _key_sha256 bytea,
  _scopes text[],
  _expires_at timestamptz default null
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant accounts.tenant := ingest.open_tenant();
  v_max_keys bigint := accounts.quota_of(v_tenant, 'max_keys');
  v_made jsonb;
begin
  if v_max_keys is not null then
    perform pg_advisory_xact_lock(hashtextextended(v_tenant.tenant_id::text, 7063));
  end if;
  insert into accounts.api_key as k (
    key_id, tenant_id, name, prefix, key_sha256, scopes, created_at, expires_at)
  values (_key_id, v_tenant.tenant_id, _name, _prefix, _key_sha256, _scopes, internal.clock(), _expires_at)
  returning to_jsonb(k) - 'key_sha256' - 'tenant_id' into v_made;
  if v_max_keys is not null then
    perform accounts.refuse_over_quota('max_keys', 'keys', count(*), v_max_keys)
    from accounts.api_key k
    where k.tenant_id = v_tenant.tenant_id and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > internal.clock());
  end if;
  return v_made;
end;
$$;
