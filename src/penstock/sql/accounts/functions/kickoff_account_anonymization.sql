-- Has what is personal in an account that was deleted overwritten or removed, once. What is wrong with the call comes
-- back in words, and then nothing is written. Raises PS012.
create or replace function accounts.kickoff_account_anonymization(
  _account_id uuid,
  _scheduled_at timestamptz default null,
  out validation_failure_message text,
  out account_anonymization_task_id bigint
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
    validation_failure_message := format('there is no deleted account %s: request its deletion first', _account_id);
    return;
  end if;
  insert into accounts.account_anonymization_task as t (tenant_id, created_at)
  values (_account_id, internal.clock())
  on conflict (tenant_id) do nothing
  returning t.account_anonymization_task_id into account_anonymization_task_id;
  if account_anonymization_task_id is not null then
    perform internal.start_process('accounts.account_anonymization', account_anonymization_task_id, _scheduled_at);
  else
    select t.account_anonymization_task_id into account_anonymization_task_id
    from accounts.account_anonymization_task t where t.tenant_id = _account_id;
  end if;
end;
$$;
