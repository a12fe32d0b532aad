-- Starts a failed process again, of any tenant for operators, of its own for a tenant; earlier failures no longer count. The deletion of an account
-- starts again with those of its parts that are stuck. Leaves an audit row.
-- Locks: the task's row. Raises PS011 for one that is open or has succeeded, PS013, PS014, PS017.
create or replace function all_tenants.restart_root(_process text, _root_id bigint)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_root jsonb := all_tenants.show_root(_process, _root_id);
  v_tenant_id uuid := (v_root ->> 'tenant_id')::uuid;
  v_outside text := current_setting('penstock.tenant_id', true);
  v_restarted boolean := false;
begin
  perform set_config('penstock.tenant_id', v_tenant_id::text, true);
  if v_root ->> 'state' = 'failed' then
    if v_root ->> 'process' = 'accounts.account_deletion' then
      perform accounts.kickoff_account_deletion(v_tenant_id);
      v_restarted := exists (
        select from internal.open_root o where o.process = v_root ->> 'process' and o.root_id = _root_id);
    else
      v_restarted := internal.restart_process(v_root ->> 'process', _root_id);
    end if;
  end if;
  perform set_config('penstock.tenant_id', coalesce(v_outside, ''), true);
  if not v_restarted then
    -- Another operator may have restarted it first; then it is open.
    raise exception using errcode = 'PS011', detail = 'id',
      message = format('the process %s %s', v_root ->> 'id',
        case v_root ->> 'state' when 'succeeded' then 'has succeeded' else 'is open' end),
      hint = case v_root ->> 'state'
        when 'succeeded' then 'Only one that failed can be started again; start a new one.'
        else format('It continues automatically: penstock process show %s', v_root ->> 'id') end;
  end if;
  perform queues.note_audit('restart_process', v_root ->> 'id');
  return v_root ->> 'id';
end;
$$;
