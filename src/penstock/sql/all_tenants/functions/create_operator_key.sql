-- Stores a key of the installation by its hash; the caller shows the secret once. For operators only: a key of an admin can do everything.
create or replace function all_tenants.create_operator_key(
  _key_id uuid,
  _name text,
  _prefix text,
  _key_sha256 bytea,
  _role text,
  _expires_at timestamptz default null
)
returns jsonb
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into internal.operator_key as k (key_id, name, prefix, key_sha256, role, created_at, expires_at)
  values (_key_id, _name, _prefix, _key_sha256, _role::accounts.role, internal.clock(), _expires_at)
  returning to_jsonb(k) - 'key_sha256';
$$;
