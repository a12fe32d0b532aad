-- Refuses a master key that no longer seals: it was forgotten, or a rotation in AWS KMS has replaced it. The caller reads its
-- keys again. Runs with its caller's rights. Locks: the key's row for key share, so that nobody forgets the key before the
-- caller's secret is there. Raises PS022.
create or replace function vault.check_key(_key_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key internal.vault_key;
begin
  insert into internal.vault_key (key_id, created_at) values (_key_id, internal.clock()) on conflict (key_id) do nothing;
  select * into v_key from internal.vault_key k where k.key_id = _key_id for key share;
  if v_key.forgotten_at is not null or (v_key.wrapped_key is not null and exists (
    select from internal.vault_key k where k.wrapped_key is not null and k.position > v_key.position))
  then
    raise exception using errcode = 'PS022', detail = 'key_id',
      message = format('the vault key %s was replaced', _key_id),
      hint = 'Give this process the new key (see penstock vault status), or restart it if it has the key.';
  end if;
end;
$$;
