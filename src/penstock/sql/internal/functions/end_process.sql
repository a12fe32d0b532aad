-- Closes a root: the process is over and is not checked again. Locks: the open root's row. Raises PS012.
create or replace function internal.end_process(_process text, _root_id bigint)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_task_id bigint;
begin
  delete from internal.open_root o
  where o.process = _process and o.root_id = _root_id and o.tenant_id = internal.require_tenant()
  returning o.task_id into v_task_id;
  if v_task_id > 0 then
    perform queues.withdraw(v_task_id);
  end if;
end;
$$;
