-- The tenant of this transaction, or null. It is set by set_config('penstock.tenant_id', …, true), from a key or a
-- lease, never for a session.
create or replace function internal.tenant_id()
returns uuid
language sql
stable
parallel safe
as $$
  select nullif(current_setting('penstock.tenant_id', true), '')::uuid;
$$;
