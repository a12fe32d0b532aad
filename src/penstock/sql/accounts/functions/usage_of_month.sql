-- What embedding cost the tenant in a month (UTC), by model. Raises PS012.
create or replace function accounts.usage_of_month(_month date default null)
returns setof jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'model', u.model, 'tokens', sum(u.tokens), 'calls', sum(u.calls), 'texts', sum(u.texts), 'reused', sum(u.reused))
  from accounts.usage u,
    (select date_trunc('month', coalesce(_month, (internal.clock() at time zone 'UTC')::date))::date as first) m
  where u.tenant_id = internal.require_tenant() and u.day >= m.first and u.day < m.first + interval '1 month'
  group by u.model order by u.model;
$$;
