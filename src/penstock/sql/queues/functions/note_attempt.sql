-- Appends how a closed lease ended.
create or replace function queues.note_attempt(_lease queues.lease, _outcome queues.outcome)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into queues.attempt (attempt_id, task_id, claimed_at, closed_at, tenant_id, worker_id, outcome, attempt_number)
  values (
    _lease.lease_id, _lease.task_id, _lease.claimed_at, internal.clock(), _lease.tenant_id, _lease.worker_id,
    _outcome, _lease.failures + 1);
$$;
