-- Notes that a mailbox has something new, for the worker that waits on its server; false if another worker holds it now, or a sync
-- that has not begun covers it. Locks: the pending sync's row. Raises nothing.
create or replace function all_tenants.wake_mail_watch(_watcher_id uuid, _source_id uuid, _reason text)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid;
  v_tenant text := current_setting('penstock.tenant_id', true);
  v_woken boolean;
begin
  select m.tenant_id into v_tenant_id from ingest.mail_watch m
  where m.source_id = _source_id and m.watcher_id = _watcher_id and ingest.is_watched(m.source_id);
  if not found then
    return false;
  end if;
  perform set_config('penstock.tenant_id', v_tenant_id::text, true);
  v_woken := ingest.wake_sync(_source_id, _reason);
  perform set_config('penstock.tenant_id', coalesce(v_tenant, ''), true);
  return v_woken;
end;
$$;
