-- About how many an operation would act on, for a count that would take too long: as the list beside it estimates them. Null for tasks,
-- which queues.estimate_tasks() estimates, and for what is never that many. Volatile, because only such a function may explain. Runs with its caller's rights. Raises PS005, PS012, PS013.
create or replace function ingest.estimate_targets(_action text, _filter jsonb, _most bigint)
returns bigint
language plpgsql
as $$
declare
  v_kind text := split_part(_action, '.', 1);
  v_tenant_id uuid := internal.tenant_id();
  v_plan json;
begin
  if v_kind = 'documents' then
    return (ingest.count_documents(_filter, _most::integer) ->> 'total')::bigint;
  elsif v_kind = 'dead' then
    if v_tenant_id is null then
      select t.tenant_id into v_tenant_id from accounts.tenant t where t.slug = _filter ->> 'tenant';
    end if;
    return queues.estimate_dead(_filter, v_tenant_id);
  elsif v_kind = 'decisions' then
    execute format(
      'explain (format json) select from ingest.decision d
       where d.tenant_id = %L and d.verdict = ''drop'' and (%2$L is null or d.source_id = %2$L::uuid)
         and (%3$L is null or d.skip_reason = %3$L) and (%4$L is null or d.name = %4$L)',
      v_tenant_id, _filter ->> 'source_id', _filter ->> 'reason', _filter ->> 'name')
    into v_plan;
    return (v_plan -> 0 -> 'Plan' ->> 'Plan Rows')::bigint;
  end if;
  return null;
end;
$$;
