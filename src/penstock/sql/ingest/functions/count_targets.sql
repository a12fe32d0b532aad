-- How many an operation would act on, and which of them it would leave out. Exact up to _most; above that `approximate` is true, and
-- the count of documents an estimate. Runs with its caller's rights. Raises PS005, PS012, PS013.
create or replace function ingest.count_targets(_action text, _filter jsonb, _most bigint default 100000)
returns jsonb
language plpgsql
as $$
declare
  v_found jsonb;
  v_count bigint;
  v_estimate jsonb;
begin
  if _action is null or _action not in (
    'documents.retry', 'documents.reindex', 'documents.delete', 'tasks.cancel', 'tasks.run_now', 'dead.replay', 'dead.purge',
    'decisions.restore')
  then
    raise exception using errcode = 'PS005', detail = 'action', message = format('%L is not an action', _action),
      hint = 'Use documents.retry, documents.reindex, documents.delete, tasks.cancel, tasks.run_now, dead.replay, dead.purge or decisions.restore.';
  end if;
  select coalesce(sum(s.count), 0),
    coalesce(jsonb_agg(jsonb_build_object('reason', s.reason, 'count', s.count) order by s.count desc)
      filter (where s.reason is not null), '[]')
  into v_count, v_found
  from (
    select ingest.why_skipped(_action, t.state) as reason, count(*) as count
    from ingest.operation_targets(_action, _filter, 'infinity', _most + 1) t
    group by 1) s;
  if v_count <= _most then
    return jsonb_build_object('count', v_count, 'approximate', false, 'skipped', v_found);
  end if;
  if _action like 'documents.%' then
    v_estimate := ingest.count_documents(_filter, _most::integer);
    v_count := greatest(v_count, (v_estimate ->> 'total')::bigint);
  end if;
  return jsonb_build_object('count', v_count, 'approximate', true, 'skipped', v_found);
end;
$$;
