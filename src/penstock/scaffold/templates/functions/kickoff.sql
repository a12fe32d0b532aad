-- Starts the process {{process}} for one {{about_words}}, once: a second call gives the task there is. What is wrong with
-- the call comes back in words, and then nothing is written. Raises PS012, PS017.
create or replace function {{schema}}.kickoff_{{name}}(
  _{{about_name}} {{about_type}},
  _scheduled_at timestamptz default null,
  out validation_failure_message text,
  out {{name}}_task_id bigint
)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
begin
{{about_checks}}  insert into {{schema}}.{{name}}_task as t (tenant_id, {{about_name}}, created_at)
  values (v_tenant_id, _{{about_name}}, internal.clock())
  on conflict ({{about_unique}}) do nothing
  returning t.{{name}}_task_id into {{name}}_task_id;
  if {{name}}_task_id is not null then
    perform internal.start_process('{{process}}', {{name}}_task_id, _scheduled_at);
  else
    select t.{{name}}_task_id into {{name}}_task_id
    from {{schema}}.{{name}}_task t where t.tenant_id = v_tenant_id and t.{{about_name}} = _{{about_name}};
  end if;
end;
$$;
