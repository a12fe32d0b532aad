-- Nobody follows changes on the pages of this API process any more.
create or replace function all_tenants.end_watch(_watcher_id uuid)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  delete from internal.watcher w where w.watcher_id = _watcher_id;
$$;
