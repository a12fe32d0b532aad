-- Revokes a key of the installation at once; revoking it again changes nothing. For operators. Raises PS013.
create or replace function all_tenants.revoke_operator_key(_key_id uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update internal.operator_key k set revoked_at = coalesce(k.revoked_at, internal.clock()) where k.key_id = _key_id;
  if not found then
    raise exception using errcode = 'PS013', detail = 'key_id',
      message = format('there is no key %s of the installation', _key_id), hint = 'List the keys: penstock key list';
  end if;
end;
$$;
