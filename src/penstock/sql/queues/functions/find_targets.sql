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
  v_type text := _filter ->> 'task_type';
  v_queue text := _filter ->> 'queue';
  v_queue_id smallint := (select q.queue_id from queues.queue q where q.queue_name = _filter ->> 'queue');
begin
  if not v_states <@ array['ready', 'waiting', 'parked', 'running'] then
    raise exception using errcode = 'PS005', detail = 'state',
      message = format('%L is not a state of tasks that have not ended', _filter ->> 'state'),
      hint = 'Use ready, waiting, parked or running, or several separated by commas.';
  end if;
  if _filter ? 'ids' then
    v_ids := array(select i.id::bigint from jsonb_array_elements_text(_filter -> 'ids') as i (id));
  end if;
  return query
  with pending as not materialized (
    select l.task_id, 'running' as state from queues.lease l where 'running' = any (v_states)
    union all
    select r.task_id, 'ready' from queues.ready r where 'ready' = any (v_states)
    union all
    select w.task_id, 'waiting' from queues.waiting w where 'waiting' = any (v_states) and w.task_id is not null
    union all
    select p.task_id, 'parked' from queues.parked p where 'parked' = any (v_states)
  ), found as materialized (
    -- As queues.find_task(), which would be called once for each of a million. Materialized, so that it is planned for all its rows: with
    -- the limit in view the planner looks up every pending task to find the few of a rare type.
    select t.task_id, t.tenant_id, s.state
    from pending s
    join (
      select n.task_id, n.tenant_id, n.task_type, n.queue_id, n.enqueued_at from queues.task n
      union all
      select k.task_id, k.tenant_id, k.task_type, k.queue_id, k.enqueued_at from queues.task_kept k
      where not exists (select from queues.task n where n.task_id = k.task_id)
    ) t on t.task_id = s.task_id
    where (v_ids is null or s.task_id = any (v_ids))
      and (_all or t.tenant_id = _tenant_id)
      and (v_queue is null or t.queue_id = v_queue_id)
      and (v_type is null or t.task_type = v_type)
      and t.enqueued_at <= _before
      -- An operation must not cancel itself, nor another one.
      and t.task_type <> 'operate'
  )
  select f.task_id, f.tenant_id, f.state from found f limit _limit;
end;
$$;
