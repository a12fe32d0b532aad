-- Overwrites what the facts of a tenant's processes may say about people: providers' answers, reasons of failures, and the
-- subject of a process if it is text. Processes are found in the register, new ones too. Then calls SCHEMA.forget_tenant(uuid) of each
-- of the user's own schemas that has one. Runs with its caller's rights, for the transaction's tenant.
create or replace function accounts.overwrite_facts(_tenant_id uuid)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_home text;
  v_name text;
begin
  for v_home, v_name in select split_part(p.process, '.', 1), split_part(p.process, '.', 2) from internal.process p loop
    execute format('update %I.%I set worker_payload = ''{}'' where tenant_id = $1 and worker_payload <> ''{}''',
      v_home, v_name || '_attempt_succeeded') using _tenant_id;
    execute format('update %I.%I set error_message = ''anonymized'' where tenant_id = $1',
      v_home, v_name || '_attempt_failed') using _tenant_id;
    if exists (
      select from pg_attribute a
      where a.attrelid = to_regclass(format('%I.%I', v_home, v_name || '_task'))
        and a.attname = 'subject' and not a.attisdropped)
    then
      execute format('update %I.%I set subject = ''anonymized '' || %I where tenant_id = $1',
        v_home, v_name || '_task', v_name || '_task_id') using _tenant_id;
    end if;
  end loop;
  for v_home in
    select s.schema_name from internal.own_schema s
    where to_regprocedure(format('%I.forget_tenant(uuid)', s.schema_name)) is not null
    order by s.schema_name
  loop
    execute format('select %I.forget_tenant($1)', v_home) using _tenant_id;
  end loop;
end;
$$;
