-- Rejects a language for which the server has no text-search configuration. Raises PS005.
create or replace function accounts.check_text_config(_name text, _field text default 'text_config')
returns void
language plpgsql
stable
as $$
begin
  if not exists (
    select from pg_catalog.pg_ts_config c where c.cfgname = _name and c.cfgnamespace = 'pg_catalog'::regnamespace)
  then
    raise exception using errcode = 'PS005', detail = _field,
      message = format('the server has no text-search configuration %L', left(_name, 80)),
      hint = (
        select 'Use one of ' || string_agg(c.cfgname, ', ' order by c.cfgname) || '.'
        from pg_catalog.pg_ts_config c where c.cfgnamespace = 'pg_catalog'::regnamespace);
  end if;
end;
$$;
