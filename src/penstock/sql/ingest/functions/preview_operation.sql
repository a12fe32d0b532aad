-- How many an operation of the tenant would act on, and which of them it would leave out. Raises PS005, PS011, PS012, PS013.
create or replace function ingest.preview_operation(_action text, _filter jsonb default '{}')
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.require_tenant();
  perform ingest.refuse_gated(_action, _filter);
  return ingest.count_targets(_action, _filter);
end;
$$;
