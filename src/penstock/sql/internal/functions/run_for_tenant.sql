-- Runs a business function in a transaction of its own for this tenant: a before handler, in one round trip. Security
-- invoker, as the runner is. Raises PS018, and whatever the function raises.
create or replace function internal.run_for_tenant(_tenant_id uuid, _function_name text, _payload jsonb)
returns jsonb
language plpgsql
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('penstock.tenant_id', _tenant_id::text, true);
  return internal.run_function(_function_name, _payload);
end;
$$;
