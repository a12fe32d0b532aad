-- Starts the session of a link, once; null if the link was used, has expired or never existed. The caller has no tenant yet:
-- the hash of the link's token is all that opens it. Locks: the link's row, so that of two requests one gets the session.
create or replace function all_tenants.use_login_link(_link_sha256 bytea, _session_id uuid, _session_sha256 bytea)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_until timestamptz := internal.clock() + interval '12 hours';
  v_own accounts.login_link;
  v_all internal.operator_link;
begin
  update accounts.login_link l set used_at = internal.clock()
  where l.token_sha256 = _link_sha256 and l.used_at is null and l.expires_at > internal.clock()
  returning * into v_own;
  if found then
    insert into accounts.session (session_id, tenant_id, token_sha256, name, role, created_at, seen_at, expires_at)
    values (_session_id, v_own.tenant_id, _session_sha256, v_own.name, v_own.role, internal.clock(), internal.clock(), v_until);
    return jsonb_build_object('session_id', _session_id, 'expires_at', v_until);
  end if;
  update internal.operator_link l set used_at = internal.clock()
  where l.token_sha256 = _link_sha256 and l.used_at is null and l.expires_at > internal.clock()
  returning * into v_all;
  if found then
    insert into internal.operator_session (session_id, token_sha256, name, role, created_at, seen_at, expires_at)
    values (_session_id, _session_sha256, v_all.name, v_all.role, internal.clock(), internal.clock(), v_until);
    return jsonb_build_object('session_id', _session_id, 'expires_at', v_until);
  end if;
  return null;
end;
$$;
