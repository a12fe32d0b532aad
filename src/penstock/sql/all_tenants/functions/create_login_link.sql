-- Stores a link that signs somebody in once within ten minutes, by the hash of its token: to a tenant, or without a slug to
-- the installation. For operators only: a link to the installation can do everything. Raises PS013, PS017.
create or replace function all_tenants.create_login_link(_token_sha256 bytea, _slug text, _name text, _role text)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_until timestamptz := internal.clock() + interval '10 minutes';
  v_tenant_id uuid;
begin
  if _slug is null then
    insert into internal.operator_link (token_sha256, name, role, created_at, expires_at)
    values (_token_sha256, _name, _role::accounts.role, internal.clock(), v_until);
  else
    v_tenant_id := (all_tenants.find_tenant(_slug) ->> 'tenant_id')::uuid;
    if exists (select from accounts.tenant t where t.tenant_id = v_tenant_id and t.status <> 'active') then
      raise exception using errcode = 'PS017', detail = 'tenant',
        message = format('the tenant %L is deleted', _slug), hint = 'Name another tenant.';
    end if;
    insert into accounts.login_link (token_sha256, tenant_id, name, role, created_at, expires_at)
    values (_token_sha256, v_tenant_id, _name, _role::accounts.role, internal.clock(), v_until);
  end if;
  return jsonb_build_object('name', _name, 'role', _role, 'tenant', _slug, 'expires_at', v_until);
end;
$$;
