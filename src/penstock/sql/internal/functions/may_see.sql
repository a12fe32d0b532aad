-- Whether this session may see a task of this tenant: tasks of its own tenant, tasks without a tenant while none is set, or
-- any task for operators. Checks the session's user, because the functions that call it run as their owner.
create or replace function internal.may_see(_tenant_id uuid)
returns boolean
language sql
stable
parallel safe
as $$
  select _tenant_id is not distinct from internal.tenant_id() or internal.sees_all();
$$;
