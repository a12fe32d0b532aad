-- The active tenants among these slugs, for the queue's owner, whose inlets get messages that name one. Never creates one.
create or replace function all_tenants.tenants_named(_slugs text[])
returns table (slug text, tenant_id uuid)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select t.slug, t.tenant_id from accounts.tenant t where t.slug = any (_slugs) and t.status = 'active';
$$;
