-- The same as ingest.preview_operation() for an operator: what all tenants share, or belongs to all of them. Raises PS005, PS013.
create or replace function all_tenants.preview_operation(_action text, _filter jsonb default '{}')
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return ingest.count_targets(_action, _filter);
end;
$$;
