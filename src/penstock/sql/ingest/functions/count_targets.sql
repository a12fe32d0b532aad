-- How many an operation would act on, and which of them it would leave out. Exact up to ingest.exact_up_to(); above that `approximate`
-- is true, and both are estimates: those left out in proportion. Tasks, which may be millions, are estimated before they are counted.
-- Runs with its caller's rights. Raises PS005, PS012, PS013.
create or replace function ingest.count_targets(_action text, _filter jsonb)
returns jsonb
language plpgsql
as $$
declare
  v_most bigint := ingest.exact_up_to();
  v_found jsonb;
  v_seen bigint;
  v_count bigint;
begin
  perform ingest.refuse_action(_action);
  if starts_with(_action, 'tasks.') and not _filter ? 'ids' then
    -- For its errors: what it acts on has no filter of another name, and exists.
    perform from ingest.operation_targets(_action, _filter, 'infinity', 0);
    v_found := ingest.estimate_tasks(_action, _filter);
    v_count := (v_found ->> 'count')::bigint;
    -- A sample may see too many of a type: those about the limit are counted.
    if v_count > (v_most * case when _filter ? 'task_type' then 1.2 else 1 end) then
      return v_found;
    end if;
  end if;
  select coalesce(sum(s.count), 0),
    coalesce(jsonb_agg(jsonb_build_object('reason', s.reason, 'count', s.count) order by s.count desc)
      filter (where s.reason is not null), '[]')
  into v_seen, v_found
  from (
    select ingest.why_skipped(_action, t.state) as reason, count(*) as count
    from ingest.operation_targets(_action, _filter, 'infinity', v_most + 1) t
    group by 1) s;
  if v_seen <= v_most then
    return jsonb_build_object('count', v_seen, 'approximate', false, 'skipped', v_found);
  end if;
  v_count := greatest(v_seen, coalesce(v_count, ingest.estimate_targets(_action, _filter, v_most)));
  return jsonb_build_object(
    'count', v_count,
    'approximate', true,
    'skipped', (
      select coalesce(jsonb_agg(
        jsonb_build_object('reason', f.item -> 'reason', 'count', (f.item ->> 'count')::bigint * v_count / v_seen) order by f.place), '[]')
      from jsonb_array_elements(v_found) with ordinality as f (item, place)));
end;
$$;
