-- Asks for the syncs that are due, of every tenant, oldest first. Returns how many. Locks: the sources, skipping locked ones.
create or replace function all_tenants.start_due_syncs(_limit integer default 500)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source record;
  v_count integer := 0;
  v_tenant text := current_setting('penstock.tenant_id', true);
begin
  for v_source in
    update ingest.source s set next_sync_at = null
    where s.source_id in (
      select d.source_id from ingest.source d
      join accounts.tenant t on t.tenant_id = d.tenant_id and t.status = 'active'
      where d.next_sync_at <= internal.clock() and d.status not in ('paused', 'error') and d.removed_at is null
      order by d.next_sync_at limit _limit for update of d skip locked)
    returning s.tenant_id, s.source_id
  loop
    perform set_config('penstock.tenant_id', v_source.tenant_id::text, true);
    perform ingest.request_sync(v_source.source_id, false, 'schedule');
    v_count := v_count + 1;
  end loop;
  perform set_config('penstock.tenant_id', coalesce(v_tenant, ''), true);
  return v_count;
end;
$$;
