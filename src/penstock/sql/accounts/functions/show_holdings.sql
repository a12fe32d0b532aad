-- What the transaction's tenant has of everything that quotas count, and its limits. Raises PS012.
create or replace function accounts.show_holdings()
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select accounts.holdings_of(t) from accounts.tenant t where t.tenant_id = internal.require_tenant();
$$;
