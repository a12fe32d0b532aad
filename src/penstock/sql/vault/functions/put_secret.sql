-- Stores a sealed secret of the tenant; it is sealed and opened outside the database. With a source it is one generation of
-- what the source needs it for. With a parameter, which must be planned, the ciphertext is there and not here.
-- Locks: the rows of the tenant, the master key, the parameter and the source, for key share. Raises PS011 if the parameter is
-- not planned any more, PS012, PS013, PS014 if the source already has this generation, PS017, PS022 if the master key was
-- replaced.
create or replace function vault.put_secret(
  _secret_id uuid,
  _name text,
  _ciphertext bytea,
  _nonce bytea,
  _wrapped_key bytea,
  _key_nonce bytea,
  _key_id text,
  _purpose text default 'webhook',
  _source_id uuid default null,
  _generation integer default null,
  _parameter_name text default null
)
returns uuid
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := (ingest.open_tenant()).tenant_id;
begin
  -- The foreign key alone would accept another tenant's source.
  if _source_id is not null and not exists (
    select from ingest.source s
    where s.tenant_id = v_tenant_id and s.source_id = _source_id and s.removed_at is null)
  then
    raise exception using errcode = 'PS013', detail = 'source_id',
      message = format('there is no source %s', _source_id),
      hint = 'List the sources of this tenant: penstock source list';
  end if;
  perform vault.check_key(_key_id);
  if _parameter_name is not null then
    perform from vault.parameter p
    where p.tenant_id = v_tenant_id and p.secret_id = _secret_id and p.parameter_name = _parameter_name
      and p.doomed_at is null
    for share;
    if not found then
      raise exception using errcode = 'PS011', detail = 'parameter_name',
        message = format('the parameter of secret %s is not planned, or is being deleted', _secret_id),
        hint = 'Store the secret again.';
    end if;
  end if;
  insert into vault.secret (
    secret_id, tenant_id, name, ciphertext, nonce, wrapped_key, key_nonce, key_id, purpose, source_id, generation,
    parameter_name, created_at)
  values (
    _secret_id, v_tenant_id, _name, _ciphertext, _nonce, _wrapped_key, _key_nonce, _key_id, _purpose, _source_id, _generation,
    _parameter_name, internal.clock())
  on conflict (source_id, purpose, generation) do nothing;
  if not found then
    raise exception using errcode = 'PS014', detail = 'generation',
      message = format('source %s already has generation %s of its %s', _source_id, _generation, _purpose),
      hint = 'Another process has stored it: read the source again and use the newest generation.';
  end if;
  return _secret_id;
end;
$$;
