-- Every tenant, oldest first, with what it has of everything that quotas count; for operators.
create or replace function all_tenants.list_tenants()
returns setof jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select accounts.tenant_row(t) || jsonb_build_object('holdings', accounts.holdings_of(t)) from accounts.tenant t order by t.tenant_id;
$$;
