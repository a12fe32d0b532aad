-- Groups all rows that changed. Locks: the tenant's groups (advisory), even if nothing changed. Raises PS012.
create or replace function ingest.group_all_clients()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('clients ' || internal.require_tenant()::text, 0));
  while ingest.group_clients(1000) >= 1000 loop
    null;
  end loop;
end;
$$;
