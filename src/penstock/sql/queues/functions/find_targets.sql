-- Tasks that match a filter of an operation, oldest first: `state` (one or more of ready, waiting, parked, running, separated by
-- commas; default: all of them), `queue`, `task_type`, `ids`; only those enqueued before _before. _all: of every tenant and of none;
-- otherwise of _tenant_id only. For the functions of operations, which know whose they are; nobody else may call it.
-- Raises PS005.
create or replace function queues.find_targets(
  _filter jsonb, _tenant_id uuid, _all boolean, _before timestamptz, _limit bigint default null
)
returns table (task_id bigint, tenant_id uuid, state text)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  v_states text[] := coalesce(string_to_array(nullif(_filter ->> 'state', ''), ','), array['ready', 'waiting', 'parked', 'running']);
  v_ids bigint[];
  v_few boolean;
  v_hash text := current_setting('enable_hashjoin');
  v_merge text := current_setting('enable_mergejoin');
begin
  if not v_states <@ array['ready', 'waiting', 'parked', 'running'] then
    raise exception using errcode = 'PS005', detail = 'state',
      message = format('%L is not a state of tasks that have not ended', _filter ->> 'state'),
      hint = 'Use ready, waiting, parked or running, or several separated by commas.';
  end if;
  if _filter ? 'ids' then
    v_ids := array(select i.id::bigint from jsonb_array_elements_text(_filter -> 'ids') as i (id));
  end if;
  -- A few of many are found by their keys; all of them, or a few that are rare, by one look through the tasks.
  v_few := _limit <= 1000;
  if v_few then
    perform set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true);
  end if;
  return query
  select t.task_id, t.tenant_id, s.state
  from (
    select l.task_id, 'running' as state from queues.lease l where 'running' = any (v_states)
    union all
    select r.task_id, 'ready' from queues.ready r where 'ready' = any (v_states)
    union all
    select w.task_id, 'waiting' from queues.waiting w where 'waiting' = any (v_states) and w.task_id is not null
    union all
    select p.task_id, 'parked' from queues.parked p where 'parked' = any (v_states)
  ) s
  -- As queues.find_task(), which would be called once for each of a million.
  left join queues.task n on n.task_id = s.task_id
  left join queues.task_kept k on k.task_id = s.task_id and n.task_id is null
  cross join lateral (
    select coalesce(n.task_id, k.task_id) as task_id, coalesce(n.task_type, k.task_type) as task_type,
      coalesce(n.enqueued_at, k.enqueued_at) as enqueued_at, coalesce(n.queue_id, k.queue_id) as queue_id,
      case when n.task_id is not null then n.tenant_id else k.tenant_id end as tenant_id) t
  join queues.queue q on q.queue_id = t.queue_id
  where (v_ids is null or s.task_id = any (v_ids))
    and (_all or t.tenant_id = _tenant_id)
    and (_filter ->> 'queue' is null or q.queue_name = _filter ->> 'queue')
    and (_filter ->> 'task_type' is null or t.task_type = _filter ->> 'task_type')
    and t.enqueued_at <= _before
    -- An operation must not cancel itself, nor another one.
    and t.task_type <> 'operate'
  limit _limit;
  if v_few then
    perform set_config('enable_hashjoin', v_hash, true), set_config('enable_mergejoin', v_merge, true);
  end if;
end;
$$;
