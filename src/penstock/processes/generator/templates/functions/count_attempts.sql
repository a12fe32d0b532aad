-- The number of attempts of this task since it was started, or last restarted by an operator. Raises PS012.
create or replace function {{schema}}.count_{{name}}_attempts(_{{name}}_task_id bigint)
returns integer
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select count(*)::integer
  from {{schema}}.{{name}}_task t
  join {{schema}}.{{name}}_attempt a using ({{name}}_task_id)
  where t.tenant_id = internal.require_tenant() and t.{{name}}_task_id = _{{name}}_task_id
    and a.{{name}}_attempt_id > t.restarted_after;
$$;
