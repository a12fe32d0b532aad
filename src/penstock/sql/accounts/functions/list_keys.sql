-- The tenant's keys, newest first, without their hashes. Raises PS012.
create or replace function accounts.list_keys()
returns setof jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select to_jsonb(k) - 'key_sha256' - 'tenant_id'
  from accounts.api_key k where k.tenant_id = internal.require_tenant() order by k.key_id desc;
$$;
