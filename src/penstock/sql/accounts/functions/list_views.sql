-- The saved views of the transaction's tenant, of all pages or one, by name. Raises PS012.
create or replace function accounts.list_views(_page text default null)
returns setof jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select to_jsonb(v) - 'tenant_id'
  from accounts.saved_view v
  where v.tenant_id = internal.require_tenant() and (_page is null or v.page = _page)
  order by v.page, lower(v.name), v.view_id
  limit 1000;
$$;
