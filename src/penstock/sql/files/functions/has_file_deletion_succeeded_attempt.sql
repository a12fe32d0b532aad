-- Whether any attempt of this task succeeded. Raises PS012.
create or replace function files.has_file_deletion_succeeded_attempt(_file_deletion_task_id bigint)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from files.file_deletion_attempt a
    join files.file_deletion_attempt_succeeded s using (file_deletion_attempt_id)
    where a.tenant_id = internal.require_tenant() and a.file_deletion_task_id = _file_deletion_task_id);
$$;
