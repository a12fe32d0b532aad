-- Up to _limit data keys that another master key than _key_id wraps, after the secret _after, in the order of secrets' ids.
create or replace function all_tenants.secrets_to_rewrap(
  _key_id text, _after uuid default '00000000-0000-0000-0000-000000000000', _limit integer default 500
)
returns table (secret_id uuid, wrapped_key bytea, key_nonce bytea, key_id text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select s.secret_id, s.wrapped_key, s.key_nonce, s.key_id
  from vault.secret s
  where s.key_id <> _key_id and s.secret_id > _after
  order by s.secret_id
  limit _limit;
$$;
