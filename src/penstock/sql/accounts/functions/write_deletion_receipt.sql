-- Writes the receipt of a deleted account: what was removed, counted at the time, a hash over the contents, the times, and
-- the date until which backups still hold it. The receipt's own hash shows whether a copy was changed.
create or replace function accounts.write_deletion_receipt(_task accounts.account_deletion_task)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into accounts.deletion_receipt (tenant_id, receipt, receipt_sha256, created_at)
  select r.tenant_id, r.receipt, sha256(convert_to(r.receipt::text, 'utf8')), internal.clock()
  from (
    select _task.tenant_id, jsonb_build_object(
      'account_id', _task.tenant_id,
      'requested_at', _task.created_at,
      'files_removed_at', (
        select max(s.created_at) from files.file_deletion_task_succeeded s where s.tenant_id = _task.tenant_id),
      'anonymized_at', s.created_at,
      'completed_at', internal.clock(),
      'removed', s.worker_payload -> 'removed',
      'overwritten', s.worker_payload -> 'overwritten',
      'contents_sha256', s.worker_payload ->> 'contents_sha256',
      'backups', jsonb_build_object(
        'retention_days', extract(day from _task.backup_retention)::integer,
        'held_until', internal.clock() + _task.backup_retention)) as receipt
    from accounts.account_anonymization_attempt a
    join accounts.account_anonymization_attempt_succeeded s using (account_anonymization_attempt_id)
    where a.tenant_id = _task.tenant_id
    order by s.created_at
    limit 1
  ) r
  on conflict do nothing;
$$;
