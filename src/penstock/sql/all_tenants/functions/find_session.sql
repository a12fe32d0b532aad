-- The session with this hash, its key's scopes and its tenant, or null once it has ended. A session of the installation has
-- the tenant that its request names, if any. Noting its use, at most once a minute, extends it by twelve hours, up to seven
-- days. The caller checks the tenant's status.
create or replace function all_tenants.find_session(_session_sha256 bytea, _slug text default null)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
  v_own accounts.session;
  v_all internal.operator_session;
  v_key accounts.api_key;
  v_found jsonb;
begin
  select * into v_own from accounts.session s
  where s.token_sha256 = _session_sha256 and s.revoked_at is null and s.expires_at > v_now;
  if found then
    select * into v_key from accounts.api_key k where k.key_id = v_own.key_id;
    if v_key.revoked_at is not null or v_key.expires_at <= v_now then
      return null;
    end if;
    if v_own.seen_at < v_now - interval '1 minute' then
      update accounts.session s
      set seen_at = v_now, expires_at = least(v_now + interval '12 hours', s.created_at + interval '7 days')
      where s.ctid in (select o.ctid from accounts.session o where o.session_id = v_own.session_id for update skip locked);
    end if;
    v_found := jsonb_build_object(
      'session_id', v_own.session_id, 'name', v_own.name, 'role', v_own.role, 'is_installation', false,
      'scopes', v_key.scopes, 'expires_at', v_own.expires_at);
  else
    select * into v_all from internal.operator_session s
    where s.token_sha256 = _session_sha256 and s.revoked_at is null and s.expires_at > v_now;
    if not found then
      return null;
    end if;
    if v_all.seen_at < v_now - interval '1 minute' then
      update internal.operator_session s
      set seen_at = v_now, expires_at = least(v_now + interval '12 hours', s.created_at + interval '7 days')
      where s.ctid in (
        select o.ctid from internal.operator_session o where o.session_id = v_all.session_id for update skip locked);
    end if;
    v_found := jsonb_build_object(
      'session_id', v_all.session_id, 'name', v_all.name, 'role', v_all.role, 'is_installation', true,
      'expires_at', v_all.expires_at);
  end if;
  return v_found || jsonb_build_object('tenant', (
    select jsonb_build_object(
      'tenant_id', t.tenant_id, 'slug', t.slug, 'name', t.name, 'status', t.status,
      'requests_per_minute', t.requests_per_minute, 'max_upload_bytes', t.max_upload_bytes)
    from accounts.tenant t
    where case when v_own.session_id is null then t.slug = _slug else t.tenant_id = v_own.tenant_id end));
end;
$$;
