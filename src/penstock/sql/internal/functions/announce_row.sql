-- Trigger on a table of tenants: announces the first argument, or with a column as the second one that thing, "source:ID".
create or replace function internal.announce_row()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := tg_argv[0];
begin
  if internal.watched_until() is null then
    return null;
  end if;
  if tg_nargs > 1 then
    v_name := v_name || ':' || (case when tg_op = 'DELETE' then to_jsonb(old) else to_jsonb(new) end ->> tg_argv[1]);
  end if;
  perform internal.announce(case when tg_op = 'DELETE' then old.tenant_id else new.tenant_id end, v_name);
  return null;
end;
$$;
