-- About how many tasks or dead letters match a filter of an operation, for a count that would take too long: tasks as the list of
-- tasks counts them, dead letters as the planner knows them. _tenant_id: only of this tenant. For the functions of operations.
-- Volatile, because only such a function may explain. Raises PS005.
create or replace function queues.estimate_targets(_filter jsonb, _tenant_id uuid, _is_dead boolean)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan json;
begin
  if not _is_dead then
    return (
      select sum(c.total)
      from unnest(coalesce(string_to_array(nullif(_filter ->> 'state', ''), ','), array['ready', 'waiting', 'parked', 'running'])) as s (state)
      cross join lateral queues.count_tasks(s.state, _filter ->> 'queue', _filter ->> 'task_type', _tenant_id) c);
  end if;
  execute format(
    'explain (format json) select from queues.dead_letter d
     where (%1$L is null or d.tenant_id = %1$L::uuid) and (%2$L is null or d.queue_id = %2$L::smallint)
       and (%3$L is null or d.task_type = %3$L) and (%4$L is null or d.fingerprint = any (string_to_array(%4$L, '','')))
       and (%5$L is null or d.error_code = %5$L) and (%6$L is null or d.reason = %6$L)
       and (%7$L is null or d.died_at < %7$L::timestamptz)',
    _tenant_id, (select q.queue_id from queues.queue q where q.queue_name = _filter ->> 'queue'), _filter ->> 'task_type',
    _filter ->> 'fingerprint', _filter ->> 'error_code', _filter ->> 'reason', _filter ->> 'died_before')
  into v_plan;
  return (v_plan -> 0 -> 'Plan' ->> 'Plan Rows')::bigint;
end;
$$;
