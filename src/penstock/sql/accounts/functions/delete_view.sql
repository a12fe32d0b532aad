-- Deletes a saved view. Locks: its row. Raises PS012, PS013.
create or replace function accounts.delete_view(_view_id uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from accounts.saved_view v where v.view_id = _view_id and v.tenant_id = internal.require_tenant();
  if not found then
    raise exception using errcode = 'PS013', detail = 'view_id', message = format('there is no view %s', _view_id),
      hint = 'List the views; somebody may have deleted it.';
  end if;
end;
$$;
