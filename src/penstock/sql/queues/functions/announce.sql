-- A worker says that it started or closed tasks, of these tenants or of none; at most twice a second, and only while somebody
-- follows changes on a page. Returns for how many seconds somebody does, 0 if nobody does: then the worker stays silent until it
-- hears on penstock_watch that somebody does.
create or replace function queues.announce(_tenant_ids uuid[] default '{}', _names text default 'queues,tasks')
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_until timestamptz := internal.watched_until();
begin
  if v_until is null then
    return 0;
  end if;
  perform internal.announce(null, _names);
  perform internal.announce(t.tenant_id, _names) from unnest(_tenant_ids) as t (tenant_id);
  return ceil(extract(epoch from v_until - internal.clock()));
end;
$$;
