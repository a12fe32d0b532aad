-- Makes one client of two, each named by its id or by the id of one of its rows; it holds over later syncs. Returns the id of
-- the client. Locks: the tenant's groups (advisory). Raises PS011 if they are one already, PS012, PS013.
create or replace function ingest.join_clients(_client_id uuid, _other_id uuid, _decided_by text default null)
returns uuid
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := (ingest.open_tenant()).tenant_id;
  v_groups uuid[];
  v_rows uuid[];
begin
  perform ingest.group_all_clients();
  v_groups := array[ingest.client_group_of(_client_id), ingest.client_group_of(_other_id)];
  if v_groups[1] = v_groups[2] then
    raise exception using errcode = 'PS011', detail = 'client_id',
      message = format('%s and %s are already one client', _client_id, _other_id),
      hint = 'See why with penstock client show.';
  end if;
  -- The row that was named, or else the one with the most facts.
  select array_agg(coalesce(
    (select m.client_id from ingest.client_member m where m.tenant_id = v_tenant_id and m.client_id = n.id),
    (select m.client_id from ingest.client_member m
      join ingest.client_intelligence c on c.client_id = m.client_id
      where m.tenant_id = v_tenant_id and m.group_id = n.group_id
      order by length(c.key_facts::text) desc, m.client_id
      limit 1)) order by n.place)
  into v_rows
  from unnest(array[_client_id, _other_id], v_groups) with ordinality n (id, group_id, place);
  insert into ingest.client_join (join_id, tenant_id, client_id, other_id, decided_by, decided_at)
  values (internal.uuid7(), v_tenant_id, v_rows[1], v_rows[2], _decided_by, internal.clock());
  perform ingest.note_clients(v_rows);
  perform ingest.group_all_clients();
  return ingest.client_group_of(v_rows[1]);
end;
$$;
