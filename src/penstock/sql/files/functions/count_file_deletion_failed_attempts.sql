-- How many attempts of this task failed since it was started, or started again by a person. Raises PS012.
create or replace function files.count_file_deletion_failed_attempts(_file_deletion_task_id bigint)
returns integer
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select count(*)::integer
  from files.file_deletion_task t
  join files.file_deletion_attempt a using (file_deletion_task_id)
  join files.file_deletion_attempt_failed f using (file_deletion_attempt_id)
  where t.tenant_id = internal.require_tenant() and t.file_deletion_task_id = _file_deletion_task_id
    and a.file_deletion_attempt_id > t.restarted_after;
$$;
