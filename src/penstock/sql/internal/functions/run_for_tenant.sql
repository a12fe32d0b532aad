-- Runs a business function for this tenant in a transaction of its own: a before handler, in one round trip. Security invoker,
-- like internal.run_function(). Raises PS005 in a transaction of another tenant, PS018, and whatever the function raises.
create or replace function internal.run_for_tenant(_tenant_id uuid, _function_name text, _payload jsonb)
returns jsonb
language plpgsql
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  if nullif(current_setting('penstock.tenant_id', true), '') <> _tenant_id::text then
    raise exception using errcode = 'PS005', detail = 'tenant_id',
      message = format('this transaction does not belong to tenant %s', _tenant_id),
      hint = 'Run it in a transaction of its own, or in one of that tenant.';
  end if;
  perform set_config('penstock.tenant_id', _tenant_id::text, true);
  return internal.run_function(_function_name, _payload);
end;
$$;
