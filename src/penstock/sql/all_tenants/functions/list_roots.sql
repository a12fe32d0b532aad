-- Processes by when they started, newest (-created) or oldest (created) first: of every tenant for operators, of its own for a
-- tenant. `_after` holds, for each process, the root id after which the next page begins (those of the last rows of each so far). A process that has not ended is open; of the others, one with an
-- attempt that succeeded has succeeded, and the rest failed. The first of each process are picked by its own index before
-- anything is counted. Raises PS005, PS012, PS013, PS014.
create or replace function all_tenants.list_roots(
  _process text default null,
  _tenant text default null,
  _state text default null,
  _limit integer default 50,
  _after jsonb default null,
  _sort text default '-created'
)
returns table (
  id text,
  process text,
  root_id bigint,
  tenant_id uuid,
  tenant text,
  state text,
  attempts bigint,
  failed_attempts bigint,
  created_at timestamptz,
  ended_at timestamptz,
  next_check_at timestamptz,
  swept integer,
  error_message text
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_only text := case when _process is not null then (internal.find_process(_process)).process end;
  v_own uuid := internal.scope();
  v_tenant_id uuid := coalesce(
    v_own, case when _tenant is not null then (all_tenants.find_tenant(_tenant) ->> 'tenant_id')::uuid end);
  v_succeeded constant text :=
    'exists (select from %1$I.%3$I a join %1$I.%4$I s using (%6$I) where a.%7$I = t.%7$I)';
  v_way text := case _sort when '-created' then 'desc' when 'created' then 'asc' end;
  v_past text := case _sort when '-created' then '<' else '>' end;
  v_is text;
  v_query text;
begin
  if v_way is null then
    raise exception using errcode = 'PS005', detail = 'sort',
      message = format('%L is not an order of processes', left(_sort, 80)), hint = 'Use created or -created.';
  end if;
  v_is := case _state
    when 'open' then 'o.root_id is not null'
    when 'succeeded' then 'o.root_id is null and ' || v_succeeded
    when 'failed' then 'o.root_id is null and not ' || v_succeeded
    else 'true' end;
  if _state is not null and v_is = 'true' then
    raise exception using errcode = 'PS005', detail = 'state',
      message = format('%L is not a state of a process', left(_state, 80)), hint = 'Use open, succeeded or failed.';
  end if;
  select string_agg(format(
    '(select %8$L::text as process, picked.*, counted.*
      from (
        select t.%7$I as root_id, t.tenant_id, t.created_at, o.root_id is not null as is_open, o.next_check_at, o.swept
        from %1$I.%2$I t
        left join internal.open_root o on o.process = %8$L and o.root_id = t.%7$I
        where ($1 is null or t.tenant_id = $1) and t.%7$I ' || v_past || ' coalesce(($3 ->> %8$L)::bigint, $4)
          and ' || v_is || '
        order by t.%7$I ' || v_way || ' limit $2
      ) picked
      cross join lateral (
        select count(*) as attempts, count(f.created_at) as failed_attempts, count(s.created_at) > 0 as succeeded,
          max(coalesce(s.created_at, f.created_at)) as ended_at,
          (array_agg(f.error_message order by a.%6$I desc) filter (where f.created_at is not null))[1] as error_message
        from %1$I.%3$I a
        left join %1$I.%4$I s using (%6$I)
        left join %1$I.%5$I f using (%6$I)
        where a.%7$I = picked.root_id
      ) counted)',
    split_part(p.process, '.', 1), v.name || '_task', v.name || '_attempt', v.name || '_attempt_succeeded',
    v.name || '_attempt_failed', v.name || '_attempt_id', v.name || '_task_id', p.process), ' union all ')
  into v_query
  from internal.process p
  cross join lateral (values (split_part(p.process, '.', 2))) v (name)
  where v_only is null or p.process = v_only;
  if v_query is null then
    return;
  end if;
  return query execute format(
    'select r.process || ''/'' || r.root_id, r.process, r.root_id, r.tenant_id, n.slug,
       case when r.is_open then ''open'' when r.succeeded then ''succeeded'' else ''failed'' end,
       r.attempts, r.failed_attempts, r.created_at, case when not r.is_open then r.ended_at end,
       r.next_check_at, r.swept, left(r.error_message, 300)
     from (%s) r
     left join accounts.tenant n on n.tenant_id = r.tenant_id
     order by r.created_at %s, r.root_id %s, r.process
     limit $2', v_query, v_way, v_way)
  using v_tenant_id, _limit, _after, case v_way when 'desc' then 9223372036854775807 else -1 end;
end;
$$;
