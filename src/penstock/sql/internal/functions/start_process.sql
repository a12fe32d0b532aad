-- Opens a root and enqueues its supervisor in the same transaction. A root that is already open is not changed.
-- Raises PS012, PS017.
create or replace function internal.start_process(_process text, _root_id bigint, _at timestamptz default null)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into internal.open_root (process, root_id, tenant_id, check_number, task_id, next_check_at, opened_at)
  values (_process, _root_id, internal.require_tenant(), 1, 0, greatest(_at, internal.clock()), internal.clock())
  on conflict do nothing;
  if found then
    update internal.open_root o set task_id = internal.enqueue_check(_process, _root_id, 1, _at)
    where o.process = _process and o.root_id = _root_id;
  end if;
end;
$$;
