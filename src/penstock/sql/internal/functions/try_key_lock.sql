-- True when this transaction is now the only one that may change the key's rows in held and parked. Never waits. Two keys
-- whose hashes share the first eight bytes only postpone each other.
create or replace function internal.try_key_lock(_key bytea)
returns boolean
language sql
volatile
as $$
  select pg_try_advisory_xact_lock(('x' || encode(substr(_key, 1, 8), 'hex'))::bit(64)::bigint);
$$;
