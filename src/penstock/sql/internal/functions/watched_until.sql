-- Until when somebody follows changes on a page; null if nobody does. Reads a table of a few rows.
create or replace function internal.watched_until()
returns timestamptz
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select max(w.seen_until) from internal.watcher w where w.seen_until > internal.clock());
end;
$$;
