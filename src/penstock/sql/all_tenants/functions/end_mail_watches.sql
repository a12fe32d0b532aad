-- Frees the mailboxes that a worker waits on: it stops, and others take them with their next call. Returns how many.
create or replace function all_tenants.end_mail_watches(_watcher_id uuid)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  delete from internal.mail_watcher w where w.watcher_id = _watcher_id;
  delete from ingest.mail_watch m where m.watcher_id = _watcher_id;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
