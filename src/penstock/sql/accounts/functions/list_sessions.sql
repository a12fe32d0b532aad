-- Who is signed in to this tenant, newest first. Raises PS012.
create or replace function accounts.list_sessions(_limit integer default 1000)
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
  order by s.created_at desc limit _limit;
end;
$$;
