-- Overwrites what the facts of a tenant's processes may tell of people: what providers answered, why attempts failed,
-- and what a process was about where that is words. New processes are found by the register. Runs with its caller's
-- rights, under the transaction's tenant.
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
end;
$$;
