-- Adds a master key that AWS KMS wrapped, which from now on seals; false if _after is no longer the newest one, because
-- another process has added one. Locks: the list of keys, until the transaction ends.
create or replace function all_tenants.add_next_key(
  _key_id text, _wrapped_key bytea, _kms_key_id text, _after text
)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('internal.vault_key', 0));
  if (select w.key_id from all_tenants.wrapped_keys() w limit 1) is distinct from _after then
    return false;
  end if;
  insert into internal.vault_key (key_id, wrapped_key, kms_key_id, created_at)
  values (_key_id, _wrapped_key, _kms_key_id, internal.clock());
  return true;
end;
$$;
