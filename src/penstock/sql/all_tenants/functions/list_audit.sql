-- What was changed and by whom, newest first, in every tenant and in the installation itself, or in one tenant. Each part
-- reads the newest rows by its primary key. For operators.
create or replace function all_tenants.list_audit(
  _slug text default null,
  _who text default null,
  _action text default null,
  _before uuid default null,
  _limit integer default 50
)
returns setof jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select r.row from (
    (
      select a.audit_id, to_jsonb(a) || jsonb_build_object('tenant', null) as row
      from internal.operator_audit a
      where _slug is null
        and (_before is null or a.audit_id < _before)
        and (_who is null or strpos(lower(a.who), lower(_who)) > 0)
        and (_action is null or strpos(a.action, _action) > 0)
      order by a.audit_id desc
      limit _limit
    )
    union all
    (
      select a.audit_id, to_jsonb(a) - 'tenant_id' || jsonb_build_object('tenant', t.slug)
      from accounts.audit_entry a
      join accounts.tenant t on t.tenant_id = a.tenant_id
      where (_slug is null or t.slug = _slug)
        and (_before is null or a.audit_id < _before)
        and (_who is null or strpos(lower(a.who), lower(_who)) > 0)
        and (_action is null or strpos(a.action, _action) > 0)
      order by a.audit_id desc
      limit _limit
    )
  ) r
  order by r.audit_id desc
  limit _limit;
$$;
