-- How many an operation would act on, and which of them it would leave out. Exact up to ingest.exact_up_to(); above that `approximate`
-- is true, and both are estimates: those left out in proportion. Of tasks, which may be millions, the number is estimated first, and if
-- they are too many a sample tells which are left out. Runs with its caller's rights. Raises PS005, PS012, PS013.
create or replace function ingest.count_targets(_action text, _filter jsonb)
returns jsonb
language plpgsql
as $$
declare
  v_most bigint := ingest.exact_up_to();
  v_sample bigint := v_most + 1;
  v_found jsonb;
  v_seen bigint;
  v_count bigint;
begin
  perform ingest.refuse_action(_action);
  -- Of a task type only a share is known, which may be above the limit when the number is not: those are counted.
  if starts_with(_action, 'tasks.') and not _filter ?| array['ids', 'task_type'] then
    v_count := ingest.estimate_targets(_action, _filter, v_most);
    if v_count > v_most then
      v_sample := 1000;
    end if;
  end if;
  select coalesce(sum(s.count), 0),
    coalesce(jsonb_agg(jsonb_build_object('reason', s.reason, 'count', s.count) order by s.count desc)
      filter (where s.reason is not null), '[]')
  into v_seen, v_found
  from (
    select ingest.why_skipped(_action, t.state) as reason, count(*) as count
    from ingest.operation_targets(_action, _filter, 'infinity', v_sample) t
    group by 1) s;
  if v_seen < v_sample then
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
