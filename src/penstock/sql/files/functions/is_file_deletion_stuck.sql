-- Whether a file's removal will not be tried again: its attempts are used up, or one failed in a way that trying
-- again cannot mend. Raises PS012.
create or replace function files.is_file_deletion_stuck(_file_id uuid)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(count(*) >= internal.max_attempts() or bool_or(not f.retriable), false)
  from files.file_deletion_task t
  join files.file_deletion_attempt a using (file_deletion_task_id)
  join files.file_deletion_attempt_failed f using (file_deletion_attempt_id)
  where t.tenant_id = internal.require_tenant() and t.file_id = _file_id
    and a.file_deletion_attempt_id > t.restarted_after;
$$;
