-- Enqueues messages of an inlet and says for each what became of it: 'taken' with its task, or 'refused' with a reason. A bad
-- message never fails the batch, and an unknown tenant is never created. A message is an object with `payload` (an object, or
-- text that holds one) and, if wanted, task_type, tenant (its slug), queue, priority, scheduled_at, unique_key, on_duplicate,
-- limit_key, max_attempts; with `refused` it only says why its reader could not use it. No ledger: see take_in().
-- A reason of ours names neither tenants nor payloads: it is kept after a tenant's deletion.
-- A message that comes alone and that Postgres rejects for any other cause, such as a trigger of the team's own, is refused with
-- what Postgres said: it would hold up those behind it for ever. In a batch such an error is raised, and the caller tries less.
create or replace function queues.enqueue_incoming(_inlet queues.inlet, _messages jsonb)
returns table ("position" integer, outcome text, task_id bigint, tenant_id uuid, reason text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_group record;
  v_slugs jsonb;
  v_ids bigint[];
  v_n integer;
begin
  select coalesce(jsonb_object_agg(t.slug, t.tenant_id), '{}') into v_slugs
  from all_tenants.tenants_named(array(
    select distinct e.message ->> 'tenant' from jsonb_array_elements(_messages) as e (message)
    where jsonb_typeof(e.message) = 'object' and e.message ->> 'tenant' is not null)) t;

  for v_group in
    with incoming as (
      select
        (e.n - 1)::integer as place,
        case when jsonb_typeof(e.message) = 'object' then e.message else '{"refused": "it is not a JSON object"}' end as m
      from jsonb_array_elements(_messages) with ordinality as e (message, n)
    ),
    looked_at as (
      select
        i.place,
        i.m,
        coalesce(i.m ->> 'task_type', _inlet.config ->> 'task_type') as task_type,
        case jsonb_typeof(i.m -> 'payload')
          when 'object' then i.m -> 'payload'
          when 'string' then internal.json_of(i.m ->> 'payload')
        end as payload,
        coalesce((v_slugs ->> (i.m ->> 'tenant'))::uuid, _inlet.tenant_id) as tenant_id,
        internal.time_of(i.m ->> 'scheduled_at') as scheduled_at
      from incoming i
    ),
    judged as (
      select
        l.*,
        case
          when l.m ? 'refused' then left(coalesce(nullif(l.m ->> 'refused', ''), 'its reader refused it'), 500)
          when l.m ->> 'tenant' is not null and not v_slugs ? (l.m ->> 'tenant') then 'its tenant is unknown'
          when l.m ->> 'tenant' is not null and l.tenant_id <> _inlet.tenant_id then 'its tenant is not the tenant of this inlet'
          when l.task_type is null then 'it names no task type, and the inlet has none'
          when l.task_type <> all (_inlet.task_types)
            then format('the inlet does not accept tasks of type %L', left(l.task_type, 80))
          when l.m -> 'payload' is null then 'it has no payload'
          when l.payload is null or jsonb_typeof(l.payload) <> 'object' then 'its payload is not a JSON object'
          when l.m ->> 'priority' !~ '^[0-9]$' then 'its priority is not a whole number from 0 to 9'
          when l.m ->> 'max_attempts' !~ '^[0-9]{1,4}$' then 'its max_attempts is not a whole number from 1 to 1000'
          when l.m ->> 'scheduled_at' is not null and l.scheduled_at is null
            then 'its scheduled_at is not a time such as 2026-11-18T09:30:00Z'
        end as reason
      from looked_at l
    ),
    named as (
      select
        j.place, j.reason, j.tenant_id, j.task_type, j.payload, j.scheduled_at,
        j.m ->> 'queue' as queue,
        j.m ->> 'priority' as priority,
        j.m ->> 'max_attempts' as max_attempts,
        j.m ->> 'on_duplicate' as on_duplicate,
        j.m ->> 'unique_key' as unique_key,
        j.m ->> 'limit_key' as limit_key,
        j.m ->> 'unique_key' is not null as is_keyed,
        j.m ->> 'limit_key' is not null as is_limited
      from judged j
    ),
    placed as (
      -- Their order decides which of two messages with one key is first in its line, or the newest: of those with a key only
      -- what stands in a row is enqueued together.
      select n.*, case when n.is_keyed then
        row_number() over (partition by n.is_keyed order by n.place)
        - row_number() over (
          partition by n.is_keyed, n.reason, n.tenant_id, n.task_type, n.queue, n.priority, n.max_attempts, n.on_duplicate,
            n.scheduled_at, n.is_limited
          order by n.place) end as stretch
      from named n
    )
    select
      k.reason,
      k.tenant_id,
      k.task_type,
      k.queue,
      k.priority,
      k.max_attempts,
      k.on_duplicate,
      k.scheduled_at,
      array_agg(k.place order by k.place) as places,
      array_agg(k.payload order by k.place) as payloads,
      case when k.is_keyed then array_agg(k.unique_key order by k.place) end as unique_keys,
      case when k.is_limited then array_agg(k.limit_key order by k.place) end as limit_keys
    from placed k
    group by 1, 2, 3, 4, 5, 6, 7, 8, k.is_keyed, k.is_limited, k.stretch
    order by min(k.place)
  loop
    tenant_id := v_group.tenant_id;
    if v_group.reason is not null then
      return query
        select p.place, 'refused', null::bigint, v_group.tenant_id, v_group.reason from unnest(v_group.places) as p (place);
      continue;
    end if;
    begin
      v_ids := queues.enqueue_many(
        v_group.task_type, v_group.payloads, v_group.scheduled_at, null, v_group.queue, v_group.priority::integer,
        v_group.tenant_id, v_group.unique_keys, v_group.on_duplicate, v_group.limit_keys, null,
        v_group.max_attempts::integer);
    exception
      when sqlstate 'PS001' or sqlstate 'PS002' or sqlstate 'PS003' or sqlstate 'PS004' or sqlstate 'PS005' then
        v_ids := null;
      when sqlstate 'PS017' then
        return query
          select p.place, 'refused', null::bigint, v_group.tenant_id, 'its tenant is deleted' from unnest(v_group.places) as p (place);
        continue;
      when others then
        if jsonb_array_length(_messages) > 1 or not internal.is_about_data(sqlstate) then
          raise;
        end if;
        return query
          select v_group.places[1], 'refused', null::bigint, v_group.tenant_id,
            left(format('Postgres rejected it (%s): %s', sqlstate, sqlerrm), 500);
        continue;
    end;
    if v_ids is not null then
      return query
        select p.place, 'taken', p.id, v_group.tenant_id, null::text from unnest(v_group.places, v_ids) as p (place, id);
      continue;
    end if;
    -- One of them is bad: each by itself, so that only the bad ones are refused.
    for v_n in 1 .. cardinality(v_group.places) loop
      "position" := v_group.places[v_n];
      begin
        task_id := queues.enqueue(
          v_group.task_type, v_group.payloads[v_n], v_group.scheduled_at, null, v_group.queue, v_group.priority::integer,
          v_group.tenant_id, v_group.unique_keys[v_n], v_group.on_duplicate, v_group.limit_keys[v_n], null,
          v_group.max_attempts::integer);
        outcome := 'taken';
        reason := null;
      exception
        when sqlstate 'PS001' or sqlstate 'PS002' or sqlstate 'PS003' or sqlstate 'PS004' or sqlstate 'PS005' then
          task_id := null;
          outcome := 'refused';
          reason := left(sqlerrm, 500);
      end;
      return next;
    end loop;
  end loop;
end;
$$;
