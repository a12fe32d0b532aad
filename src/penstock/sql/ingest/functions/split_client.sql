-- Takes one row out of its client, for good: it stands alone until a person joins it with another. Returns its id as a client.
-- Locks: the tenant's groups (advisory). Raises PS011 if it stands alone already, PS012, PS013.
create or replace function ingest.split_client(_record_id uuid, _decided_by text default null)
returns uuid
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := (ingest.open_tenant()).tenant_id;
  v_group_id uuid;
  v_others uuid[];
begin
  perform ingest.group_all_clients();
  select m.group_id into v_group_id from ingest.client_member m
  where m.tenant_id = v_tenant_id and m.client_id = _record_id;
  if not found then
    raise exception using errcode = 'PS013', detail = 'record_id',
      message = format('there is no record %s of a client', _record_id),
      hint = 'Take the record_id of one of the records that penstock client show lists.';
  end if;
  if (select count(*) from (
    select from ingest.client_member m where m.tenant_id = v_tenant_id and m.group_id = v_group_id limit 2) m) < 2
  then
    raise exception using errcode = 'PS011', detail = 'record_id',
      message = format('record %s is a client of its own already', _record_id), hint = 'There is nothing to split.';
  end if;
  with dropped as (
    delete from ingest.client_join j
    where j.tenant_id = v_tenant_id and _record_id in (j.client_id, j.other_id)
    returning j.client_id, j.other_id
  )
  select array_agg(o.id) into v_others from dropped d cross join unnest(array[d.client_id, d.other_id]) o (id);
  insert into ingest.client_apart (client_id, tenant_id, decided_by, decided_at)
  values (_record_id, v_tenant_id, _decided_by, internal.clock())
  on conflict (client_id) do update set decided_by = excluded.decided_by, decided_at = excluded.decided_at;
  perform ingest.note_clients(v_others || _record_id);
  perform ingest.group_all_clients();
  return ingest.client_group_of(_record_id);
end;
$$;
