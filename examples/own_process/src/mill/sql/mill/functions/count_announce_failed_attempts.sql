-- The number of failed attempts of this task since it was started, or last restarted by an operator. Raises PS012.
create or replace function mill.count_announce_failed_attempts(_announce_task_id bigint)
returns integer
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select count(*)::integer
  from mill.announce_task t
  join mill.announce_attempt a using (announce_task_id)
  join mill.announce_attempt_failed f using (announce_attempt_id)
  where t.tenant_id = internal.require_tenant() and t.announce_task_id = _announce_task_id
    and a.announce_attempt_id > t.restarted_after;
$$;
