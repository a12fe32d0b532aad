-- Adds the first master key that AWS KMS wrapped; false if there is one already, which the caller then uses.
-- Locks: the list of keys, until the transaction ends.
create or replace function all_tenants.add_first_key(_key_id text, _wrapped_key bytea, _kms_key_id text)
returns boolean
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  select all_tenants.add_next_key(_key_id, _wrapped_key, _kms_key_id, null);
$$;
