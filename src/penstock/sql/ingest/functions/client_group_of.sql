-- The group of a client, named by the group's id or by the id of one of its rows. Raises PS012, PS013.
create or replace function ingest.client_group_of(_client_id uuid)
returns uuid
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_group_id uuid;
begin
  select m.group_id into v_group_id from ingest.client_member m
  where m.tenant_id = v_tenant_id and m.client_id = _client_id;
  if not found then
    select g.group_id into v_group_id from ingest.client_group g
    where g.tenant_id = v_tenant_id and g.group_id = _client_id;
  end if;
  if v_group_id is null then
    raise exception using errcode = 'PS013', detail = 'client_id',
      message = format('there is no client %s', _client_id),
      hint = 'List the clients of this tenant: penstock client list';
  end if;
  return v_group_id;
end;
$$;
