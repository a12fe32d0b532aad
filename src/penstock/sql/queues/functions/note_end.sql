-- Appends the end of a task that had no lease: skipped, merged, replaced or cancelled while it waited. _attempt_number is
-- that of its last run, 0 if it never ran.
create or replace function queues.note_end(_task_id bigint, _attempt_number integer, _tenant_id uuid, _outcome queues.outcome)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into queues.attempt (attempt_id, task_id, closed_at, tenant_id, outcome, attempt_number)
  values (nextval('queues.lease_id_seq'), _task_id, internal.clock(), _tenant_id, _outcome, _attempt_number);
$$;
