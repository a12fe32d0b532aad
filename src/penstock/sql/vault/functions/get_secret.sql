-- A sealed secret of the tenant; without a ciphertext if that is in a parameter. Raises PS012, PS013.
create or replace function vault.get_secret(
  _secret_id uuid,
  out name text,
  out ciphertext bytea,
  out nonce bytea,
  out wrapped_key bytea,
  out key_nonce bytea,
  out key_id text,
  out parameter_name text
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  select s.name, s.ciphertext, s.nonce, s.wrapped_key, s.key_nonce, s.key_id, s.parameter_name
  into name, ciphertext, nonce, wrapped_key, key_nonce, key_id, parameter_name
  from vault.secret s where s.tenant_id = internal.require_tenant() and s.secret_id = _secret_id;
  if not found then
    raise exception using errcode = 'PS013', detail = 'secret_id',
      message = format('there is no secret %s', _secret_id),
      hint = 'Connect the source again; its secret is gone.';
  end if;
end;
$$;
