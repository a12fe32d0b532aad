-- The record of a client that a person wrote, with its row locked; `_client_id` is the record's id, or that of a client with exactly one
-- such record. Raises PS011 for a record that a source states, PS012, PS013.
create or replace function ingest.manual_client(_client_id uuid)
returns ingest.client_intelligence
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_client ingest.client_intelligence;
  v_ids uuid[];
begin
  select * into v_client from ingest.client_intelligence c
  where c.tenant_id = v_tenant_id and c.client_id = _client_id for update;
  if found and v_client.source_id is null then
    return v_client;
  end if;
  perform ingest.group_all_clients();
  v_ids := array(
    select c.client_id from ingest.client_member m
    join ingest.client_intelligence c on c.client_id = m.client_id and c.source_id is null
    where m.tenant_id = v_tenant_id and m.group_id = ingest.client_group_of(_client_id));
  if v_client.client_id is not null or cardinality(v_ids) = 0 then
    raise exception using errcode = 'PS011', detail = 'client_id',
      message = 'this record comes from a source, and the next sync would undo a change',
      hint = 'Change it at the source, or add a record of your own: penstock client add';
  elsif cardinality(v_ids) > 1 then
    raise exception using errcode = 'PS011', detail = 'client_id',
      message = format('this client has %s records of your own', cardinality(v_ids)),
      hint = 'Name the record: its record_id is in penstock client show';
  end if;
  select * into v_client from ingest.client_intelligence c where c.client_id = v_ids[1] for update;
  return v_client;
end;
$$;
