-- The tenant of this transaction. Without a tenant row security would show nothing and hide the mistake. Raises PS012.
create or replace function internal.require_tenant()
returns uuid
language plpgsql
stable
parallel safe
as $$
begin
  if internal.tenant_id() is null then
    raise exception using errcode = 'PS012', detail = 'penstock.tenant_id',
      message = 'no tenant is set for this transaction',
      hint = 'Call set_config(''penstock.tenant_id'', …, true) first.';
  end if;
  return internal.tenant_id();
end;
$$;
