-- How many tokens the tenant may still have embedded this month (UTC); null means no budget is set. Raises PS012.
create or replace function accounts.budget_left()
returns bigint
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select t.monthly_token_budget - coalesce((
    select sum(u.tokens) from accounts.usage u
    where u.tenant_id = t.tenant_id
      and u.day >= date_trunc('month', (internal.clock() at time zone 'UTC'))::date), 0)::bigint
  from accounts.tenant t where t.tenant_id = internal.require_tenant();
$$;
