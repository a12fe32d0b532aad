-- An API process says that somebody follows changes on its pages, for this long, and repeats it in time. Workers listen on
-- penstock_watch: they announce what they close only while somebody looks.
create or replace function all_tenants.watch(_watcher_id uuid, _valid_for interval)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into internal.watcher as w (watcher_id, seen_until) values (_watcher_id, internal.clock() + _valid_for)
  on conflict (watcher_id) do update set seen_until = excluded.seen_until;
  delete from internal.watcher w where w.seen_until < internal.clock() - interval '1 hour';
  perform pg_notify('penstock_watch', extract(epoch from _valid_for)::bigint::text);
end;
$$;
