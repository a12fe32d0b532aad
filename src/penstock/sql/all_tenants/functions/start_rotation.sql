-- Notes that a rotation to a master key has begun, and returns how many secrets it has to rewrap.
create or replace function all_tenants.start_rotation(_key_id text)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into internal.vault_key (key_id, created_at, rotating_since) values (_key_id, internal.clock(), internal.clock())
  on conflict (key_id) do update set rotating_since = coalesce(vault_key.rotating_since, excluded.rotating_since);
  return (select count(*) from vault.secret s where s.key_id <> _key_id);
end;
$$;
