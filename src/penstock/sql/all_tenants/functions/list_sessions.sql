-- Everybody who is signed in, newest first: to the installation and to every tenant, or to one; `_q` is part of a name.
-- For operators.
create or replace function all_tenants.list_sessions(_slug text default null, _limit integer default 1000, _q text default null)
returns setof jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select s.row from (
    select o.created_at, to_jsonb(o) - 'token_sha256' - 'revoked_at' || jsonb_build_object(
      'tenant', null, 'key_id', null, 'is_installation', true) as row
    from internal.operator_session o
    where _slug is null and o.revoked_at is null and o.expires_at > internal.clock()
    union all
    select s.created_at, accounts.session_row(s)
    from accounts.session s
    join accounts.tenant t on t.tenant_id = s.tenant_id
    where (_slug is null or t.slug = _slug) and accounts.is_live(s)
  ) s
  where _q is null or strpos(lower(s.row ->> 'name'), lower(_q)) > 0
  order by s.created_at desc limit _limit;
$$;
