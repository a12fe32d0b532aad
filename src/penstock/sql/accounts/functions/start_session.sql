-- Starts a session for the holder of a key of this tenant: it has the key's scopes and ends with it. Its role says the most of
-- what the scopes allow. Raises PS012, PS013, PS017.
create or replace function accounts.start_session(_session_id uuid, _session_sha256 bytea, _key_id uuid)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant accounts.tenant := ingest.open_tenant();
  v_until timestamptz := internal.clock() + interval '12 hours';
  v_key accounts.api_key;
begin
  select * into v_key from accounts.api_key k where k.tenant_id = v_tenant.tenant_id and k.key_id = _key_id;
  if not found then
    raise exception using errcode = 'PS013', detail = 'key_id',
      message = format('there is no key %s', _key_id), hint = 'List the keys to see their ids.';
  end if;
  insert into accounts.session (
    session_id, tenant_id, token_sha256, key_id, name, role, created_at, seen_at, expires_at)
  values (
    _session_id, v_tenant.tenant_id, _session_sha256, _key_id, v_key.name,
    case
      when 'admin' = any (v_key.scopes) then 'admin'
      when v_key.scopes && array['operate', 'documents:write', 'projects:write'] then 'operator'
      else 'viewer'
    end::accounts.role,
    internal.clock(), internal.clock(), v_until);
  return jsonb_build_object('session_id', _session_id, 'expires_at', v_until);
end;
$$;
