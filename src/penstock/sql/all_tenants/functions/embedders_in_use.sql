-- The embedders that projects of active tenants use, or are about to switch to: what doctor has to call.
create or replace function all_tenants.embedders_in_use()
returns setof text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select distinct e.embedder
  from accounts.project p
  join accounts.tenant t on t.tenant_id = p.tenant_id
  cross join lateral (values (p.embedder), (p.next_embedder)) as e (embedder)
  where p.deleted_at is null and t.status = 'active' and e.embedder <> 'none'
  order by 1;
$$;
