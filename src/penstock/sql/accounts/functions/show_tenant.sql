-- The transaction's own tenant, with the id of its webhook's secret and what it has of everything that quotas count.
-- Raises PS012.
create or replace function accounts.show_tenant()
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select accounts.tenant_row(t) || jsonb_build_object(
    'webhook_secret_id', t.webhook_secret_id, 'holdings', accounts.holdings_of(t))
  from accounts.tenant t where t.tenant_id = internal.require_tenant();
$$;
