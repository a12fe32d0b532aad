-- Whether this session may see a task of this tenant: its own tenant's, one of nobody's while no tenant is set, or
-- any for operators. Asked of the session's user, because the functions that ask run as their owner.
create or replace function internal.may_see(_tenant_id uuid)
returns boolean
language sql
stable
parallel safe
as $$
  select _tenant_id is not distinct from internal.tenant_id() or internal.sees_all();
$$;
