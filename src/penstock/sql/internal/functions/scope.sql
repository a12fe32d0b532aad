-- Whose rows this session may look at: its transaction's tenant, or null for all tenants if it is an operator outside any
-- tenant's transaction. Raises PS012 for anybody else without a tenant.
create or replace function internal.scope()
returns uuid
language sql
stable
parallel safe
as $$
  select case when internal.sees_all() then null else internal.require_tenant() end;
$$;
