-- What was changed in this tenant and by whom, newest first: part of a name, the start of an action, the page after a row.
-- Raises PS012.
create or replace function accounts.list_audit(
  _who text default null,
  _action text default null,
  _before uuid default null,
  _limit integer default 50
)
returns setof jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select to_jsonb(a) - 'tenant_id' || jsonb_build_object('tenant', t.slug)
  from accounts.audit_entry a
  join accounts.tenant t on t.tenant_id = a.tenant_id
  where a.tenant_id = internal.require_tenant()
    and (_before is null or a.audit_id < _before)
    and (_who is null or strpos(lower(a.who), lower(_who)) > 0)
    and (_action is null or strpos(a.action, _action) > 0)
  order by a.audit_id desc
  limit _limit;
end;
$$;
