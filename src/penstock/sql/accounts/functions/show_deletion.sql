-- The progress of the deletion of the transaction's tenant, with the receipt once there is one; null when no deletion was
-- requested. Raises PS012.
create or replace function accounts.show_deletion()
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'account_id', t.tenant_id,
    'account_deletion_task_id', t.account_deletion_task_id,
    'status', case
      when r.tenant_id is not null then 'succeeded'
      when accounts.is_account_deletion_stuck(t.tenant_id) then 'failed'
      else 'running' end,
    'error', case when r.tenant_id is null then (
      select f.error_message from accounts.account_deletion_task_failed f
      where f.tenant_id = t.tenant_id and f.account_deletion_attempt_id > t.restarted_after
      order by f.account_deletion_attempt_id desc limit 1) end,
    'requested_at', t.created_at,
    'files_left', (
      select count(*) from files.file f where f.tenant_id = t.tenant_id and f.blob_path not like 'removed/%'),
    'parameters_left', (
      select count(*) from vault.parameter p where p.tenant_id = t.tenant_id and p.removed_at is null),
    'flags', (
      select array_agg(g.flag order by g.created_at) from accounts.account_flag g where g.tenant_id = t.tenant_id),
    'receipt', r.receipt,
    'receipt_sha256', encode(r.receipt_sha256, 'hex'))
  from accounts.account_deletion_task t
  left join accounts.deletion_receipt r using (tenant_id)
  where t.tenant_id = internal.require_tenant();
$$;
