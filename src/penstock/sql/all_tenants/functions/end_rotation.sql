-- Notes that a rotation to a master key has ended, unless more secrets are wrapped by another than the _unreadable ones, which
-- it could not rewrap; returns how many are.
create or replace function all_tenants.end_rotation(_key_id text, _unreadable integer default 0)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_left bigint := (select count(*) from vault.secret s where s.key_id <> _key_id);
begin
  if v_left <= _unreadable then
    update internal.vault_key k set rotating_since = null, rotated_at = internal.clock()
    where k.key_id = _key_id and k.rotating_since is not null;
  end if;
  return v_left;
end;
$$;
