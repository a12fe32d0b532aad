-- Revokes a key at once; revoking it again changes nothing. Raises PS012, PS013.
create or replace function accounts.revoke_key(_key_id uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update accounts.api_key k set revoked_at = coalesce(k.revoked_at, internal.clock())
  where k.tenant_id = internal.require_tenant() and k.key_id = _key_id;
  if not found then
    raise exception using errcode = 'PS013', detail = 'key_id',
      message = format('there is no key %s', _key_id),
      hint = 'List the keys to see their ids.';
  end if;
end;
$$;
