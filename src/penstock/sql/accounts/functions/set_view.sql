-- Changes the name or the query of a saved view; what is null stays. Locks: its row. Raises PS012, PS013, PS014.
create or replace function accounts.set_view(_view_id uuid, _name text default null, _query text default null)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_view accounts.saved_view;
begin
  update accounts.saved_view v set
    name = coalesce(_name, v.name), query = coalesce(_query, v.query), updated_at = internal.clock()
  where v.view_id = _view_id and v.tenant_id = internal.require_tenant() returning * into v_view;
  if not found then
    raise exception using errcode = 'PS013', detail = 'view_id', message = format('there is no view %s', _view_id),
      hint = 'List the views; somebody may have deleted it.';
  end if;
  return to_jsonb(v_view) - 'tenant_id';
exception
  when unique_violation then
    raise exception using errcode = 'PS014', detail = 'name', message = format('the page already has a view %L', _name),
      hint = 'Choose another name.';
end;
$$;
