-- Who is signed in to this tenant, newest first; `_q` is part of a name. Raises PS012.
create or replace function accounts.list_sessions(_limit integer default 1000, _q text default null)
returns setof jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select accounts.session_row(s) from accounts.session s
  where s.tenant_id = internal.require_tenant() and accounts.is_live(s)
    and (_q is null or strpos(lower(s.name), lower(_q)) > 0)
  order by s.created_at desc limit _limit;
end;
$$;
