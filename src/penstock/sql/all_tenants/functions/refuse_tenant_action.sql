-- Raises PS005 for an action on what belongs to one tenant: an operator has to name the tenant.
create or replace function all_tenants.refuse_tenant_action(_action text)
returns void
language plpgsql
stable
as $$
begin
  if _action like 'documents.%' or _action like 'decisions.%' then
    raise exception using errcode = 'PS005', detail = 'action', message = format('%s acts on one tenant', _action),
      hint = 'Name the tenant: send X-Penstock-Tenant, or use --tenant.';
  end if;
end;
$$;
