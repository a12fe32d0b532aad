-- Processes that a filter of an operation selects, with their states (open, succeeded, failed): `process`, `state`, `ids`; only those that
-- were started before _before. _tenant_id null: of every tenant. For the functions of operations, which know whose they are.
-- Raises PS013, PS014.
create or replace function all_tenants.find_roots(
  _filter jsonb, _tenant_id uuid, _before timestamptz, _limit bigint default null
)
returns table (item text, tenant_id uuid, state text)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_only text := case when _filter ->> 'process' is not null then (internal.find_process(_filter ->> 'process')).process end;
  v_query text;
begin
  select string_agg(format(
    'select %6$L || ''/'' || t.%5$I as item, t.tenant_id, case when o.root_id is not null then ''open''
       when exists (select from %1$I.%2$I_attempt a join %1$I.%3$I s using (%4$I) where a.%5$I = t.%5$I) then ''succeeded''
       else ''failed'' end as state
     from %1$I.%2$I_task t
     left join internal.open_root o on o.process = %6$L and o.root_id = t.%5$I
     where ($1 is null or t.tenant_id = $1) and t.created_at <= $2%7$s',
    split_part(p.process, '.', 1), v.name, v.name || '_attempt_succeeded', v.name || '_attempt_id', v.name || '_task_id',
    p.process, case when _filter ? 'ids' then format(' and t.%I = any (%L::bigint[])', v.name || '_task_id', array(
      select split_part(i.id, '/', 2)::bigint from jsonb_array_elements_text(_filter -> 'ids') as i (id)
      where split_part(i.id, '/', 1) = p.process)) else '' end), ' union all ')
  into v_query
  from internal.process p
  cross join lateral (values (split_part(p.process, '.', 2))) v (name)
  where v_only is null or p.process = v_only;
  if v_query is null then
    return;
  end if;
  return query execute format(
    'select r.item, r.tenant_id, r.state from (%s) r
     where internal.in_filter(r.state, $3) limit $4', v_query)
  using _tenant_id, _before, _filter ->> 'state', _limit;
end;
$$;
