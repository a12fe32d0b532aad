-- The same as ingest.preview_operation() for an operator: tasks and dead letters of all tenants. Raises PS005, PS013.
create or replace function all_tenants.preview_operation(_action text, _filter jsonb default '{}')
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform all_tenants.refuse_tenant_action(_action);
  return ingest.count_targets(_action, _filter);
end;
$$;
