-- Whether {{process}} will not be tried again for one {{about_words}}: its attempts are used up, or
-- one failed in a way that a retry cannot fix. Raises PS012.
create or replace function {{schema}}.is_{{name}}_stuck(_{{about_name}} {{about_type}})
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(count(*) >= internal.max_attempts() or bool_or(not f.retriable), false)
  from {{schema}}.{{name}}_task t
  join {{schema}}.{{name}}_attempt a using ({{name}}_task_id)
  join {{schema}}.{{name}}_attempt_failed f using ({{name}}_attempt_id)
  where t.tenant_id = internal.require_tenant() and t.{{about_key}} = _{{about_name}}
    and a.{{name}}_attempt_id > t.restarted_after;
$$;
