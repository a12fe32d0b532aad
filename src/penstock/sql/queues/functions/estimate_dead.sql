-- About how many dead letters match a filter of an operation, as the planner knows them. _tenant_id: only of this tenant. For the
-- functions of operations. Volatile, because only such a function may explain.
create or replace function queues.estimate_dead(_filter jsonb, _tenant_id uuid)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan json;
begin
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
