-- Adds a record of a client that a person wrote; no sync touches it. It becomes part of the client with the same name or domain, if
-- there is one. Returns the record's id. Raises PS005, PS012, PS013 for a project that is not there, PS017.
create or replace function ingest.put_client(
  _project text, _name text, _industry text default null, _summary text default null, _key_facts jsonb default '{}'
)
returns uuid
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := (ingest.open_tenant()).tenant_id;
  v_client_id uuid := internal.uuid7();
begin
  if coalesce(btrim(_name), '') = '' then
    raise exception using errcode = 'PS005', detail = 'name', message = 'a client needs a name', hint = 'Give it one.';
  end if;
  insert into ingest.client_intelligence (
    client_id, tenant_id, project_id, client_name, industry, summary, key_facts, created_at, updated_at)
  values (
    v_client_id, v_tenant_id, (accounts.find_project(_project)).project_id, btrim(_name), _industry, _summary,
    coalesce(_key_facts, '{}'), internal.clock(), internal.clock());
  perform ingest.group_all_clients();
  return v_client_id;
end;
$$;
