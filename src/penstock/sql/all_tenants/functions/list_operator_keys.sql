-- The keys of the installation, newest first, without their hashes. For operators.
create or replace function all_tenants.list_operator_keys()
returns setof jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select to_jsonb(k) - 'key_sha256' from internal.operator_key k order by k.key_id desc;
$$;
