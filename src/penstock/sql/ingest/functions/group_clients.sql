-- Groups rows that changed since they were grouped, at most _limit, and returns how many; fewer than _limit: none is left. Rows
-- that a transaction in progress changes are left for the next call. Called after a part of a sync, and before clients are
-- shown. Generic plans: planning each statement of group_client() for each client took most of its time.
-- Locks: the tenant's groups (advisory), so that two callers do not merge the same groups; then the notes. Raises PS012.
create or replace function ingest.group_clients(_limit integer default 1000)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_ids uuid[];
  v_row record;
  v_touched uuid[] := '{}';
begin
  if not exists (select from ingest.client_change c where c.tenant_id = v_tenant_id) then
    return 0;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('clients ' || v_tenant_id::text, 0));
  with due as (
    delete from ingest.client_change c
    where c.client_id = any (array(
      select d.client_id from ingest.client_change d
      where d.tenant_id = v_tenant_id
      order by d.client_id
      limit _limit
      for update skip locked))
    returning c.client_id
  )
  select array_agg(d.client_id order by d.client_id) into v_ids from due d;
  if v_ids is null then
    return 0;
  end if;
  for v_row in
    -- A union instead of a join: the planner would compare each row with the keys of all.
    with keyed as materialized (
      select u.client_id,
        coalesce(array_agg(u.key order by u.key) filter (where u.key is not null), '{}') as keys,
        coalesce(array_agg(u.origin order by u.key) filter (where u.key is not null), '{}') as origins
      from (
        select i.id as client_id, null::text as key, null::text as origin from unnest(v_ids) i (id)
        union all
        select k.client_id, k.key, k.origin from ingest.client_keys(v_ids) k
      ) u
      group by u.client_id
    ), found as materialized (
      -- `offset 0` looks each row up: before the first statistics the planner takes reading all of the tenant's for cheaper.
      select n.client_id, n.keys, n.origins, c.is_there is not null as is_there, m.is_grouped is not null as is_grouped,
        case when m.is_grouped then array(select k.key from ingest.client_key k where k.client_id = n.client_id) else '{}' end
          as before
      from keyed n
      left join lateral (
        select true as is_there from ingest.client_intelligence o where o.client_id = n.client_id offset 0) c on true
      left join lateral (
        select true as is_grouped from ingest.client_member o where o.client_id = n.client_id offset 0) m on true
    )
    -- New rows with the same keys are in one group: the first is grouped, and the others follow it.
    select array_agg(f.client_id order by f.client_id) as ids, f.is_there, f.before, f.keys, f.origins
    from found f
    group by case when f.is_grouped or not f.is_there or f.keys = '{}' then f.client_id end,
      f.is_there, f.before, f.keys, f.origins
    order by ids
  loop
    v_touched := v_touched || ingest.group_client(
      v_row.ids[1], v_row.is_there, v_row.before, v_row.keys, v_row.origins);
    if cardinality(v_row.ids) > 1 then
      insert into ingest.client_key (client_id, key, tenant_id, origin)
      select i.id, k.key, v_tenant_id, k.origin
      from unnest(v_row.ids[2:]) i (id)
      cross join unnest(v_row.keys, v_row.origins) as k (key, origin)
      on conflict on constraint client_key_pkey do update set origin = excluded.origin
      where client_key.origin <> excluded.origin;
      insert into ingest.client_member (client_id, tenant_id, group_id)
      select i.id, v_tenant_id, m.group_id
      from unnest(v_row.ids[2:]) i (id)
      cross join (select o.group_id from ingest.client_member o where o.client_id = v_row.ids[1]) m;
    end if;
  end loop;
  perform ingest.describe_groups(array(select distinct t.id from unnest(v_touched) t (id)));
  return cardinality(v_ids);
end;
$$;
