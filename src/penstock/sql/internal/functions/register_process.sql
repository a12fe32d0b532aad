-- Registers a process and its functions, so that internal.run_function() may call them, and grants workers execution. Called
-- by the process's file in SCHEMA/grants whenever grants are applied, with the rights of the login that migrates.
-- Raises PS018 for a function that cannot be a part: missing, not (jsonb) to jsonb, or not security definer with a pinned
-- search_path.
create or replace function internal.register_process(
  _process text, _channel text, _functions jsonb, _queue text default null
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part text;
  v_name text;
begin
  insert into internal.process (process, channel, supervisor, queue)
  values (_process, _channel, _functions ->> 'supervisor', _queue)
  on conflict (process) do update set
    channel = excluded.channel, supervisor = excluded.supervisor, queue = excluded.queue;
  delete from internal.business_function b where b.process = _process;
  for v_part, v_name in select e.key, e.value from jsonb_each_text(_functions) e loop
    insert into internal.business_function (function_name, process, part) values (v_name, _process, v_part);
    if not exists (
      select from pg_proc p
      where p.oid = to_regprocedure(v_name || '(jsonb)') and p.prorettype = 'jsonb'::regtype
        and p.prosecdef and p.proconfig && array['search_path=pg_catalog, pg_temp'])
    then
      raise exception using errcode = 'PS018', detail = 'function_name',
        message = format('%s cannot be the %s of %s', v_name, v_part, _process),
        hint = 'Write it as function(jsonb) returns jsonb, security definer, set search_path = pg_catalog, pg_temp.';
    end if;
    execute format(
      'grant usage on schema %I to worker_service_user, penstock_all_tenants', split_part(v_name, '.', 1));
    -- Only workers may call these: grants to owners on a whole schema do not include them.
    execute format(
      'revoke all on function %s from public, penstock_queue, penstock_all_tenants, penstock_api, service_role, penstock_reader',
      to_regprocedure(v_name || '(jsonb)'));
    execute format('grant execute on function %s to worker_service_user', to_regprocedure(v_name || '(jsonb)'));
  end loop;
end;
$$;
