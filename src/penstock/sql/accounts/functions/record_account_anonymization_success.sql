-- Success handler of `db_function`: the attempt succeeded. Writes the fact once, which ends the process. Raises PS012.
create or replace function accounts.record_account_anonymization_success(_payload jsonb)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt_id bigint := internal.payload_id(_payload -> 'original_payload', 'account_anonymization_attempt_id');
  v_attempt accounts.account_anonymization_attempt;
begin
  if v_attempt_id is null then
    return internal.refusal('missing_attempt_id', 'original_payload.account_anonymization_attempt_id must be the number of an attempt');
  end if;
  select * into v_attempt from accounts.account_anonymization_attempt a
  where a.tenant_id = internal.require_tenant() and a.account_anonymization_attempt_id = v_attempt_id;
  if not found then
    return internal.refusal('attempt_not_found', format('there is no account_anonymization attempt %s', v_attempt_id));
  end if;
  insert into accounts.account_anonymization_attempt_succeeded (account_anonymization_attempt_id, tenant_id, worker_payload, created_at)
  values (v_attempt_id, v_attempt.tenant_id, coalesce(_payload -> 'worker_payload', '{}'), internal.clock())
  on conflict do nothing;
  if found then
    perform internal.end_process('accounts.account_anonymization', v_attempt.account_anonymization_task_id);
    -- The deletion waits for this.
    perform internal.next_check('accounts.account_deletion', d.account_deletion_task_id)
    from accounts.account_deletion_task d where d.tenant_id = v_attempt.tenant_id;
  end if;
  return internal.progress('recorded');
end;
$$;
