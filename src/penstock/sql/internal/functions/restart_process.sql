-- Starts a process again that ended without success: earlier failures no longer count. False when it is still open or does
-- not exist. Locks: the task's row. Raises PS012, PS017.
create or replace function internal.restart_process(_process text, _root_id bigint)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schema text := split_part(_process, '.', 1);
  v_name text := split_part(_process, '.', 2);
  v_found integer;
begin
  if not exists (select from internal.process p where p.process = _process)
    or exists (select from internal.open_root o where o.process = _process and o.root_id = _root_id)
  then
    return false;
  end if;
  execute format(
    'update %1$I.%2$I t set restarted_after = coalesce((
         select max(a.%3$I) from %1$I.%4$I a where a.%5$I = t.%5$I), 0)
       where t.tenant_id = internal.require_tenant() and t.%5$I = $1
         and not exists (
           select from %1$I.%4$I a join %1$I.%6$I s using (%3$I) where a.%5$I = t.%5$I)',
    v_schema, v_name || '_task', v_name || '_attempt_id', v_name || '_attempt', v_name || '_task_id',
    v_name || '_attempt_succeeded')
  using _root_id;
  get diagnostics v_found = row_count;
  if v_found = 0 then
    return false;
  end if;
  perform internal.start_process(_process, _root_id);
  return true;
end;
$$;
