-- Trigger on a table that belongs to no tenant: announces the names in its argument to everybody, or with a second argument
-- to operators only.
create or replace function internal.announce_statement()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if internal.watched_until() is not null then
    perform pg_notify('penstock_changed', case when tg_nargs > 1 then '- ' else '* ' end || tg_argv[0]);
  end if;
  return null;
end;
$$;
