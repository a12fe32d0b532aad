-- Keeps a key by its hash; the secret itself is shown once by whoever made it. Raises PS012, PS017.
create or replace function accounts.create_key(
  _key_id uuid,
  _name text,
  _prefix text,
  _key_sha256 bytea,
  _scopes text[],
  _expires_at timestamptz default null
)
returns jsonb
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into accounts.api_key as k (
    key_id, tenant_id, name, prefix, key_sha256, scopes, created_at, expires_at)
  values (_key_id, (ingest.open_tenant()).tenant_id, _name, _prefix, _key_sha256, _scopes, internal.clock(), _expires_at)
  returning to_jsonb(k) - 'key_sha256' - 'tenant_id';
$$;
