-- The tenant with this slug, for a request that names one before any tenant is set; only operators see where its webhook
-- goes. Raises PS013.
create or replace function all_tenants.find_tenant(_slug text)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant accounts.tenant;
begin
  select * into v_tenant from accounts.tenant t where t.slug = _slug;
  if not found then
    raise exception using errcode = 'PS013', detail = 'tenant',
      message = format('there is no tenant %L', left(_slug, 80)),
      hint = format('Create it: penstock tenant create %s; or name another (penstock tenant list) with --tenant', left(_slug, 80));
  end if;
  return accounts.tenant_row(v_tenant)
    || case when internal.sees_all() then '{}'::jsonb else jsonb_build_object('webhook_url', null) end;
end;
$$;
