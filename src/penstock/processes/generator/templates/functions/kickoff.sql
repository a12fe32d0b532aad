-- Starts the process {{process}} for one {{about_words}}, once: a second call returns the existing task. If an argument
-- is invalid, validation_failure_message says why and nothing is written. Raises PS012, PS017.
{{kickoff_note}}create or replace function {{schema}}.kickoff_{{name}}(
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
{{about_checks}}  insert into {{schema}}.{{name}}_task as t (tenant_id{{about_insert}}, created_at)
  values (v_tenant_id{{about_value}}, internal.clock())
  on conflict ({{about_unique}}) do nothing
  returning t.{{name}}_task_id into {{name}}_task_id;
  if {{name}}_task_id is not null then
    perform internal.start_process('{{process}}', {{name}}_task_id, _scheduled_at);
  else
    select t.{{name}}_task_id into {{name}}_task_id
    from {{schema}}.{{name}}_task t where t.tenant_id = v_tenant_id and t.{{about_key}} = _{{about_name}};
  end if;
end;
$$;
