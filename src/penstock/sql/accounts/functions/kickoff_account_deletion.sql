-- Starts the deletion of a flagged account, once; one that ended with a failure starts again, with the parts that were stuck.
-- If the call is invalid, it returns a message and writes nothing. Raises PS012.
create or replace function accounts.kickoff_account_deletion(
  _account_id uuid,
  _scheduled_at timestamptz default null,
  _backup_retention interval default '30 days',
  _receipt_token_sha256 bytea default null,
  out validation_failure_message text,
  out account_deletion_task_id bigint
)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if _account_id is null then
    validation_failure_message := 'account_id is missing: give the id of an account';
    return;
  end if;
  if not exists (
    select from accounts.account_flag g
    where g.tenant_id = internal.require_tenant() and g.tenant_id = _account_id and g.flag = 'deleted')
  then
    validation_failure_message := format('there is no account %s that is flagged deleted', _account_id);
    return;
  end if;
  insert into accounts.account_deletion_task as t (tenant_id, backup_retention, receipt_token_sha256, created_at)
  values (_account_id, _backup_retention, _receipt_token_sha256, internal.clock())
  on conflict (tenant_id) do nothing
  returning t.account_deletion_task_id into account_deletion_task_id;
  if account_deletion_task_id is not null then
    perform internal.start_process('accounts.account_deletion', account_deletion_task_id, _scheduled_at);
    return;
  end if;
  select t.account_deletion_task_id into account_deletion_task_id
  from accounts.account_deletion_task t where t.tenant_id = _account_id;
  if accounts.is_account_deletion_stuck(_account_id) then
    perform internal.restart_process('files.file_deletion', f.file_deletion_task_id)
    from files.file_deletion_task f
    where f.tenant_id = _account_id and files.is_file_deletion_stuck(f.file_id);
    perform internal.restart_process('accounts.account_anonymization', a.account_anonymization_task_id)
    from accounts.account_anonymization_task a
    where a.tenant_id = _account_id and accounts.is_account_anonymization_stuck(_account_id);
    perform internal.restart_process('accounts.account_deletion', account_deletion_task_id);
  end if;
end;
$$;
