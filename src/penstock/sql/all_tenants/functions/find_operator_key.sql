-- The key of the installation with this hash, and the tenant that its request names, if any; null if there is no such key. Notes its
-- use at most once a minute. The caller checks expiry, revocation and the tenant's status, so that each gets its own message.
create or replace function all_tenants.find_operator_key(_key_sha256 bytea, _slug text default null)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key internal.operator_key;
begin
  select * into v_key from internal.operator_key k where k.key_sha256 = _key_sha256;
  if not found then
    return null;
  end if;
  if v_key.used_at is null or v_key.used_at < internal.clock() - interval '1 minute' then
    -- Ten requests at once must not wait for each other to note the same minute.
    update internal.operator_key k set used_at = internal.clock()
    where k.ctid in (select o.ctid from internal.operator_key o where o.key_id = v_key.key_id for update skip locked);
  end if;
  return jsonb_build_object(
    'key_id', v_key.key_id,
    'name', v_key.name,
    'role', v_key.role,
    'expires_at', v_key.expires_at,
    'expired', coalesce(v_key.expires_at <= internal.clock(), false),
    'revoked', v_key.revoked_at is not null,
    'tenant', (
      select jsonb_build_object(
        'tenant_id', t.tenant_id, 'slug', t.slug, 'name', t.name, 'status', t.status,
        'requests_per_minute', t.requests_per_minute, 'max_upload_bytes', t.max_upload_bytes)
      from accounts.tenant t where t.slug = _slug));
end;
$$;
