-- Whether mill.announce will not be tried again for one subject: its attempts are used up, or
-- one failed in a way that a retry cannot fix. Raises PS012.
create or replace function mill.is_announce_stuck(_subject text)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(count(*) >= internal.max_attempts() or bool_or(not f.retriable), false)
  from mill.announce_task t
  join mill.announce_attempt a using (announce_task_id)
  join mill.announce_attempt_failed f using (announce_attempt_id)
  where t.tenant_id = internal.require_tenant() and t.subject = _subject
    and a.announce_attempt_id > t.restarted_after;
$$;
