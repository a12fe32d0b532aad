-- Waits until this transaction is the only one that may change the key's rows in held and parked. For operators' calls:
-- admission uses internal.try_key_lock() and moves on when the lock is taken, so this wait always ends.
create or replace function internal.key_lock(_key bytea)
returns void
language sql
volatile
as $$
  select pg_advisory_xact_lock(('x' || encode(substr(_key, 1, 8), 'hex'))::bit(64)::bigint);
$$;
