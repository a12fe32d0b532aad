-- The tenant's keys that a filter selects (as accounts.find_keys), newest first, without their hashes. Raises PS012.
create or replace function accounts.list_keys(_filter jsonb default '{}')
returns setof jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select to_jsonb(k) - 'key_sha256' - 'tenant_id'
  from accounts.find_keys(_filter) f
  join accounts.api_key k using (key_id)
  order by k.key_id desc;
$$;
