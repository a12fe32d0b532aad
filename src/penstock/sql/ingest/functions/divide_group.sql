-- Divides a group whose rows are no longer connected by keys. The part with the row that gave the group its id keeps the id;
-- if that row is gone, the largest part. Each part is searched row by key by row, so the cost is in proportion to the group.
-- Returns the groups it made. Called by ingest.group_client(). Runs with its caller's rights.
create or replace function ingest.divide_group(_group_id uuid)
returns uuid[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  -- Groups of older versions have their row's own id.
  v_left uuid[] := array(
    select m.client_id from ingest.client_member m where m.tenant_id = v_tenant_id and m.group_id = _group_id
    order by _group_id in (m.client_id, ingest.group_id_from(m.client_id)) desc, m.client_id);
  v_first uuid := (select r.id from unnest(v_left[:1]) r (id) where _group_id in (r.id, ingest.group_id_from(r.id)));
  v_part uuid[];
  v_kept uuid[];
  v_group uuid;
  v_made uuid[] := '{}';
begin
  while cardinality(v_left) > 0 loop
    with recursive reached (client_id, key) as (
      select v_left[1], null::text
      union
      select n.client_id, n.key
      from reached r
      cross join lateral (
        select null::uuid as client_id, k.key from ingest.client_key k where k.client_id = r.client_id
        union all
        select k.client_id, null
        from ingest.client_key k
        join ingest.client_member m on m.client_id = k.client_id and m.group_id = _group_id
        where k.tenant_id = v_tenant_id and k.key = r.key) n
    )
    select array_agg(r.client_id) into v_part from reached r where r.client_id is not null;
    v_left := array(select unnest(v_left) except select unnest(v_part));
    if v_kept is null
      or (cardinality(v_part) > cardinality(v_kept) and (v_first is null or not v_kept @> array[v_first]))
    then
      -- What was kept so far becomes a group of its own.
      select v_part, v_kept into v_kept, v_part;
    end if;
    if v_part is not null then
      v_group := (
        select coalesce(min(n.id::text)::uuid, internal.uuid7())
        from (select ingest.group_id_from(p.id) as id from unnest(v_part) p (id)) n
        where n.id <> _group_id and not exists (
          select from ingest.client_member m where m.tenant_id = v_tenant_id and m.group_id = n.id));
      update ingest.client_member m set group_id = v_group where m.client_id = any (v_part);
      v_made := v_made || v_group;
    end if;
  end loop;
  return v_made;
end;
$$;
