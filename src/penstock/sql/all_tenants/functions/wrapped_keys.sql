-- The master keys of the vault that AWS KMS wrapped, the newest first; the first one seals.
create or replace function all_tenants.wrapped_keys()
returns table (key_id text, wrapped_key bytea, kms_key_id text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select k.key_id, k.wrapped_key, k.kms_key_id
  from internal.vault_key k
  where k.wrapped_key is not null
  order by k.position desc;
$$;
