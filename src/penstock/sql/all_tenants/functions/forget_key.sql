-- Forgets a master key that no secret needs any more: from now on it seals nothing, and what AWS KMS wrapped of it is deleted.
-- False if it was forgotten before. Locks: the key's row, against a secret that is being sealed with it. Raises PS011 while a
-- secret needs it or while it is the newest of AWS KMS.
create or replace function all_tenants.forget_key(_key_id text)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key internal.vault_key;
  v_needed bigint;
begin
  insert into internal.vault_key (key_id, created_at) values (_key_id, internal.clock()) on conflict (key_id) do nothing;
  select * into v_key from internal.vault_key k where k.key_id = _key_id for update;
  select count(*) into v_needed from vault.secret s where s.key_id = _key_id;
  if v_needed > 0 then
    raise exception using errcode = 'PS011', detail = 'key_id',
      message = format('%s secrets need the vault key %s', v_needed, _key_id),
      hint = 'Run penstock vault rotate first.';
  end if;
  if v_key.wrapped_key is not null and not exists (
    select from internal.vault_key k where k.wrapped_key is not null and k.position > v_key.position)
  then
    raise exception using errcode = 'PS011', detail = 'key_id',
      message = format('new secrets are sealed with the vault key %s', _key_id),
      hint = 'Run penstock vault rotate first.';
  end if;
  update internal.vault_key k set forgotten_at = internal.clock(), wrapped_key = null, kms_key_id = null
  where k.key_id = _key_id and k.forgotten_at is null;
  return found;
end;
$$;
