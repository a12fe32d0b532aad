-- One process with all its parts, of any tenant for operators, of its own for a tenant: what it is about (ids only, never the text of a message), each
-- attempt with its outcome and the state of its task, and the supervisor's next check. Raises PS013, PS014.
create or replace function all_tenants.show_root(_process text, _root_id bigint)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_process internal.process := internal.find_process(_process);
  v_schema text := split_part(v_process.process, '.', 1);
  v_name text := split_part(v_process.process, '.', 2);
  v_task jsonb;
  v_tenant_id uuid;
  v_attempts jsonb;
  v_open internal.open_root;
  v_outside text := current_setting('penstock.tenant_id', true);
  v_task_state text;
begin
  execute format('select to_jsonb(t) from %I.%I t where t.%I = $1', v_schema, v_name || '_task', v_name || '_task_id')
  into v_task using _root_id;
  -- An operator may be in a transaction of another tenant.
  if v_task is null or not (
    (v_task ->> 'tenant_id')::uuid is not distinct from internal.tenant_id()
    or pg_has_role(session_user, 'service_role', 'member') or pg_has_role(session_user, 'penstock_reader', 'member'))
  then
    raise exception using errcode = 'PS013', detail = 'id',
      message = format('there is no process %s/%s', v_process.process, _root_id),
      hint = format('List them: penstock process list --process %s', v_process.process);
  end if;
  v_tenant_id := (v_task ->> 'tenant_id')::uuid;
  -- A task's state is shown to its own tenant only, so it is asked for as that tenant.
  perform set_config('penstock.tenant_id', v_tenant_id::text, true);
  execute format(
    'select coalesce(jsonb_agg(jsonb_build_object(
         ''number'', x.number, ''attempt_id'', x.attempt_id, ''task_id'', x.task_id,
         ''task_state'', queues.task_state(x.task_id), ''started_at'', x.started_at,
         ''outcome'', case when x.succeeded_at is not null then ''succeeded'' when x.failed_at is not null then ''failed'' end,
         ''ended_at'', coalesce(x.succeeded_at, x.failed_at), ''error_message'', x.error_message,
         ''retriable'', x.retriable, ''before_restart'', x.attempt_id <= $2) order by x.attempt_id), ''[]'')
     from (
       select row_number() over (order by a.%5$I) as number, a.%5$I as attempt_id, a.task_id, a.created_at as started_at,
         s.created_at as succeeded_at, f.created_at as failed_at, f.error_message, f.retriable
       from %1$I.%2$I a
       left join %1$I.%3$I s using (%5$I)
       left join %1$I.%4$I f using (%5$I)
       where a.%6$I = $1
     ) x',
    v_schema, v_name || '_attempt', v_name || '_attempt_succeeded', v_name || '_attempt_failed', v_name || '_attempt_id',
    v_name || '_task_id')
  into v_attempts using _root_id, (v_task ->> 'restarted_after')::bigint;
  select * into v_open from internal.open_root o where o.process = v_process.process and o.root_id = _root_id;
  v_task_state := queues.task_state(v_open.task_id);
  perform set_config('penstock.tenant_id', coalesce(v_outside, ''), true);

  return jsonb_build_object(
    'id', v_process.process || '/' || _root_id,
    'process', v_process.process,
    'root_id', _root_id,
    'channel', v_process.channel,
    'tenant_id', v_tenant_id,
    'tenant', (select t.slug from accounts.tenant t where t.tenant_id = v_tenant_id),
    'about', (
      select coalesce(jsonb_object_agg(e.key, e.value), '{}') from jsonb_each(v_task) e
      where e.key like '%\_id' and e.key not in ('tenant_id', v_name || '_task_id')),
    'state', case
      when v_open.root_id is not null then 'open'
      when v_attempts @> '[{"outcome": "succeeded"}]' then 'succeeded'
      else 'failed' end,
    'created_at', v_task -> 'created_at',
    'opened_at', v_open.opened_at,
    'next_check_at', v_open.next_check_at,
    'late_seconds', greatest(extract(epoch from internal.clock() - v_open.next_check_at), 0)::double precision,
    'supervisor_task_id', v_open.task_id,
    'supervisor_task_state', v_task_state,
    'swept', v_open.swept,
    'max_attempts', internal.max_attempts(),
    'attempts', v_attempts);
end;
$$;
