-- Saves a view for the team: of the transaction's tenant. Raises PS012, PS014 when the page has a view of
-- this name, PS016 above 500 views.
create or replace function accounts.put_view(_page text, _name text, _query text, _created_by text)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_view accounts.saved_view;
begin
  if (select count(*) from accounts.saved_view v where v.tenant_id = internal.require_tenant()) >= 500 then
    raise exception using errcode = 'PS016', detail = 'views', message = 'there are already 500 saved views',
      hint = 'Delete one that nobody uses.';
  end if;
  insert into accounts.saved_view (view_id, tenant_id, page, name, query, created_by, created_at, updated_at)
  values (
    internal.uuid7(), internal.require_tenant(), _page, _name, _query, left(_created_by, 200),
    internal.clock(), internal.clock())
  on conflict do nothing returning * into v_view;
  if not found then
    raise exception using errcode = 'PS014', detail = 'name', message = format('the page %s already has a view %L', _page, _name),
      hint = 'Choose another name, or change that view.';
  end if;
  return to_jsonb(v_view) - 'tenant_id';
end;
$$;
