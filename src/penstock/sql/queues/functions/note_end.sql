-- Appends the end of a task that never got a lease: skipped, merged, replaced or cancelled while it waited.
create or replace function queues.note_end(_task_id bigint, _attempt integer, _tenant_id uuid, _outcome queues.outcome)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into queues.attempt (attempt_id, task_id, closed_at, tenant_id, outcome, attempt)
  values (nextval('queues.lease_id_seq'), _task_id, internal.clock(), _tenant_id, _outcome, _attempt);
$$;
