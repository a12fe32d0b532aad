-- Whether any attempt of this task succeeded. Raises PS012.
create or replace function {{schema}}.has_{{name}}_succeeded_attempt(_{{name}}_task_id bigint)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from {{schema}}.{{name}}_attempt a
    join {{schema}}.{{name}}_attempt_succeeded s using ({{name}}_attempt_id)
    where a.tenant_id = internal.require_tenant() and a.{{name}}_task_id = _{{name}}_task_id);
$$;
