-- Whether this session may look at every tenant's tasks: an operator or reader, outside any tenant's transaction.
create or replace function internal.sees_all()
returns boolean
language sql
stable
parallel safe
as $$
  select internal.tenant_id() is null
    and (pg_has_role(session_user, 'service_role', 'member') or pg_has_role(session_user, 'penstock_reader', 'member'));
$$;
