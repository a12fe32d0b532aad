-- The key with this hash and its tenant, or null; notes its use at most once a minute. The caller checks expiry, revocation
-- and the tenant's status, so that each gets its own message.
create or replace function all_tenants.find_key(_key_sha256 bytea)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found jsonb;
  v_key accounts.api_key;
begin
  select * into v_key from accounts.api_key k where k.key_sha256 = _key_sha256;
  if not found then
    return null;
  end if;
  if v_key.used_at is null or v_key.used_at < internal.clock() - interval '1 minute' then
    -- Ten requests at once must not wait for each other to note the same minute.
    update accounts.api_key k set used_at = internal.clock()
    where k.ctid in (select o.ctid from accounts.api_key o where o.key_id = v_key.key_id for update skip locked);
  end if;
  select jsonb_build_object(
    'tenant_id', t.tenant_id, 'tenant_slug', t.slug, 'tenant_name', t.name, 'status', t.status,
    'key_id', v_key.key_id, 'name', v_key.name, 'scopes', v_key.scopes, 'expired', coalesce(v_key.expires_at <= internal.clock(), false),
    'revoked', v_key.revoked_at is not null, 'requests_per_minute', t.requests_per_minute,
    'max_upload_bytes', t.max_upload_bytes)
  into v_found
  from accounts.tenant t where t.tenant_id = v_key.tenant_id;
  return v_found;
end;
$$;
