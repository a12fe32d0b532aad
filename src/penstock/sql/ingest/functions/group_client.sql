-- Puts one row into the group its keys lead to, merging the groups they lead to into the largest. A row that is gone or that
-- lost a key leaves its group first; the group is divided only if nothing else holds it together. Returns the groups it touched.
-- Called by ingest.group_clients() under its lock. Runs with its caller's rights.
create or replace function ingest.group_client(
  _client_id uuid, _is_there boolean, _before text[], _keys text[], _origins text[]
)
returns uuid[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_old uuid;
  v_shared text[];
  v_groups uuid[];
  v_group uuid;
  v_new uuid := ingest.group_id_from(_client_id);
  v_touched uuid[] := '{}';
begin
  select m.group_id into v_old from ingest.client_member m where m.client_id = _client_id;
  if v_old is not null then
    v_touched := array[v_old];
  end if;
  if v_old is not null and (not _is_there or not _before <@ _keys) then
    delete from ingest.client_key k where k.client_id = _client_id;
    delete from ingest.client_member m where m.client_id = _client_id;
    select array_agg(b.key) into v_shared
    from unnest(_before) b (key)
    where exists (select from ingest.client_key k where k.tenant_id = v_tenant_id and k.key = b.key);
    -- With one shared key the others still share it. With several, another row that has all of them holds them together; it
    -- is looked for among a hundred, because dividing a group that stays whole is only slow, not wrong.
    if cardinality(v_shared) > 1 and not exists (
      select from (
        select k.client_id from ingest.client_key k
        where k.tenant_id = v_tenant_id and k.key = v_shared[1]
        limit 100) a
      where (
        select count(*) from ingest.client_key b
        where b.client_id = a.client_id and b.key = any (v_shared)) = cardinality(v_shared))
    then
      v_touched := v_touched || ingest.divide_group(v_old);
    end if;
  end if;
  if not _is_there then
    return v_touched;
  end if;

  insert into ingest.client_key (client_id, key, tenant_id, origin)
  select _client_id, k.key, v_tenant_id, k.origin from unnest(_keys, _origins) as k (key, origin)
  on conflict on constraint client_key_pkey do update set origin = excluded.origin
  where client_key.origin <> excluded.origin;
  select array_agg(distinct g.group_id) into v_groups
  from (
    select m.group_id from ingest.client_member m where m.client_id = _client_id
    union all
    select h.group_id
    from unnest(_keys) k (key)
    cross join lateral (
      select m.group_id
      from ingest.client_key o
      join ingest.client_member m on m.client_id = o.client_id
      where o.tenant_id = v_tenant_id and o.key = k.key and o.client_id <> _client_id
      limit 1) h
  ) g;
  if v_groups is null then
    -- A group keeps its id while it can: it is what links and other programs know it by.
    v_group := case
      when v_old is not null and not exists (
        select from ingest.client_member m where m.tenant_id = v_tenant_id and m.group_id = v_old) then v_old
      when exists (
        select from ingest.client_member m where m.tenant_id = v_tenant_id and m.group_id = v_new) then internal.uuid7()
      else v_new
    end;
  elsif cardinality(v_groups) = 1 then
    v_group := v_groups[1];
  else
    select g.group_id into v_group
    from unnest(v_groups) g (group_id)
    cross join lateral (
      select count(*) as members
      from (
        select from ingest.client_member m
        where m.tenant_id = v_tenant_id and m.group_id = g.group_id
        limit 10000) m) s
    order by s.members desc, g.group_id
    limit 1;
    update ingest.client_member m set group_id = v_group
    where m.tenant_id = v_tenant_id and m.group_id = any (v_groups) and m.group_id <> v_group;
    v_touched := v_touched || v_groups;
  end if;
  insert into ingest.client_member (client_id, tenant_id, group_id) values (_client_id, v_tenant_id, v_group)
  on conflict (client_id) do update set group_id = excluded.group_id
  where client_member.group_id <> excluded.group_id;
  return v_touched || v_group;
end;
$$;
