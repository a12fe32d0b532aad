-- Replaces wrapped data keys by the same keys under another master key, if they still are what the caller unwrapped, and
-- returns how many it replaced. What a data key encrypts stays as it is. Locks: the master key's row for key share, then the
-- secrets, in the order of their ids. Raises PS022 if the master key was replaced meanwhile.
create or replace function all_tenants.rewrap_secrets(
  _key_id text, _secret_ids uuid[], _before bytea[], _wrapped_keys bytea[], _key_nonces bytea[]
)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  perform vault.check_key(_key_id);
  with given as (
    select * from unnest(_secret_ids, _before, _wrapped_keys, _key_nonces) as g (secret_id, before, wrapped_key, key_nonce)
  ), locked as (
    select s.secret_id, g.wrapped_key, g.key_nonce
    from vault.secret s
    join given g on g.secret_id = s.secret_id and g.before = s.wrapped_key
    order by s.secret_id
    for update of s
  )
  update vault.secret s set wrapped_key = l.wrapped_key, key_nonce = l.key_nonce, key_id = _key_id
  from locked l
  where s.secret_id = l.secret_id;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
