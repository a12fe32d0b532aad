-- Whether any attempt of this task succeeded. Raises PS012.
create or replace function mill.has_announce_succeeded_attempt(_announce_task_id bigint)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from mill.announce_attempt a
    join mill.announce_attempt_succeeded s using (announce_attempt_id)
    where a.tenant_id = internal.require_tenant() and a.announce_task_id = _announce_task_id);
$$;
