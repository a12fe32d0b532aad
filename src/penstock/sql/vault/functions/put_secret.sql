-- Keeps a sealed secret of the tenant; it is sealed and opened outside the database. Raises PS012, PS017.
create or replace function vault.put_secret(
  _secret_id uuid,
  _name text,
  _ciphertext bytea,
  _nonce bytea,
  _wrapped_key bytea,
  _key_nonce bytea,
  _key_id text
)
returns uuid
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into vault.secret (
    secret_id, tenant_id, name, ciphertext, nonce, wrapped_key, key_nonce, key_id, created_at)
  values (
    _secret_id, (ingest.open_tenant()).tenant_id, _name, _ciphertext, _nonce, _wrapped_key, _key_nonce, _key_id,
    internal.clock())
  returning secret_id;
$$;
