-- The dead letters of one group, newest first; `_after` is the place of the last row of the previous page. A tenant sees its
-- own. Raises PS005, PS012.
create or replace function queues.dead_members(_fingerprint text, _after text default null, _limit integer default 50)
returns table (task_id bigint, task_type text, error_message text, died_at timestamptz, tenant_id uuid, place text)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_tenant_id uuid := internal.scope();
  v_time timestamptz;
  v_task_id bigint;
begin
  if _after is not null then
    if _after !~ '^[0-9]{1,18}[.][0-9]{1,18}$' then
      raise exception using errcode = 'PS005', detail = 'cursor',
        message = 'this is not the cursor of a page of failures', hint = 'Use the cursor of the previous page, or none.';
    end if;
    v_time := timestamptz 'epoch' + split_part(_after, '.', 1)::bigint * interval '1 microsecond';
    v_task_id := split_part(_after, '.', 2)::bigint;
  end if;
  return query
  select d.task_id, d.task_type, left(d.error_message, 2000), d.died_at, d.tenant_id,
    (extract(epoch from d.died_at) * 1000000)::bigint || '.' || d.task_id
  from queues.dead_letter d
  where (v_tenant_id is null or d.tenant_id = v_tenant_id) and d.fingerprint = _fingerprint
    and (_after is null or (d.died_at, d.task_id) < (v_time, v_task_id))
  order by d.died_at desc, d.task_id desc
  limit _limit;
end;
$$;
