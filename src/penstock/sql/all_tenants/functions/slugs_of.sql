-- The slugs of tenants by their ids, for operators, whose lists name each row's tenant.
create or replace function all_tenants.slugs_of(_tenant_ids uuid[])
returns table (tenant_id uuid, slug text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select t.tenant_id, t.slug from accounts.tenant t where t.tenant_id = any (_tenant_ids);
$$;
