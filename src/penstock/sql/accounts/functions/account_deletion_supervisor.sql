-- Leads the deletion of one account: revokes the tokens of connected sources, removes each file, then the secrets outside the
-- database, then anonymizes the account, then writes the receipt. If one of these is stuck, the deletion ends with a failure that
-- names it; a token that cannot be revoked is only counted. An attempt here is one request; it waits for its parts.
-- Locks: the task's row, then the open root's, then documents one after the other. Raises PS012.
create or replace function accounts.account_deletion_supervisor(_payload jsonb)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_process constant text := 'accounts.account_deletion';
  v_task_id bigint := internal.payload_id(_payload, 'account_deletion_task_id');
  v_task accounts.account_deletion_task;
  v_attempt accounts.account_deletion_attempt;
  v_document_id uuid;
  v_stuck text;
  v_left integer;
begin
  -- Input
  if v_task_id is null then
    return internal.refusal('missing_account_deletion_task_id', 'account_deletion_task_id must be the number of a task');
  end if;
  select * into v_task from accounts.account_deletion_task t
  where t.tenant_id = internal.require_tenant() and t.account_deletion_task_id = v_task_id
  for update;
  if not found then
    return internal.refusal('account_deletion_task_not_found', format('there is no account_deletion task %s', v_task_id));
  end if;
  if not internal.is_current_check(v_process, v_task_id, _payload) then
    return internal.progress('overtaken');
  end if;
  if accounts.has_account_deletion_succeeded_attempt(v_task_id) then
    perform internal.end_process(v_process, v_task_id);
    return internal.progress('done');
  end if;
  if accounts.is_account_deletion_stuck(v_task.tenant_id) then
    perform internal.end_process(v_process, v_task_id);
    return jsonb_build_object('status', 'stuck');
  end if;
  select * into v_attempt from accounts.account_deletion_attempt a
  where a.account_deletion_task_id = v_task_id and a.account_deletion_attempt_id > v_task.restarted_after
  order by a.account_deletion_attempt_id desc limit 1;
  if not found then
    insert into accounts.account_deletion_attempt (tenant_id, account_deletion_task_id, created_at)
    values (v_task.tenant_id, v_task_id, internal.clock())
    returning * into v_attempt;
  end if;

  -- Tokens: revoked at the providers while the vault still has them; a provider that is down for an hour is not waited for.
  v_left := ingest.revoke_all_tokens();
  if v_left > 0 and v_attempt.created_at > internal.clock() - interval '1 hour' then
    return internal.progress('waiting_for_revocation', jsonb_build_object(
      'tokens', v_left,
      'next_check_at', internal.next_check(
        v_process, v_task_id,
        internal.clock() + least(interval '30 seconds', interval '1 second'
          + (internal.clock() - v_attempt.created_at) / 10))));
  end if;

  -- Files: one removal each, a few at a time, so that no transaction grows with the account.
  for v_document_id in
    select d.document_id from ingest.document d
    where d.tenant_id = v_task.tenant_id and d.deleted_at is null
    order by d.document_id
    limit 200
  loop
    -- An attachment may already have been deleted with its document.
    if exists (
      select from ingest.document d
      where d.tenant_id = v_task.tenant_id and d.document_id = v_document_id and d.deleted_at is null)
    then
      perform ingest.delete_document(v_document_id);
    end if;
  end loop;
  if v_document_id is not null then
    return internal.progress('deleting', jsonb_build_object(
      'next_check_at', internal.next_check(v_process, v_task_id)));
  end if;
  perform files.kickoff_file_deletion(f.file_id)
  from files.file f
  where f.tenant_id = v_task.tenant_id and f.blob_path not like 'removed/%'
    and not exists (select from files.file_deletion_task t where t.file_id = f.file_id);
  select
    count(*),
    (array_agg(format('file %s could not be removed: %s', f.file_id, (
        select x.error_message from files.file_deletion_task_failed x
        where x.file_deletion_task_id = t.file_deletion_task_id order by x.file_deletion_attempt_id desc limit 1)))
      filter (where files.is_file_deletion_stuck(f.file_id)))[1]
  into v_left, v_stuck
  from files.file f
  join files.file_deletion_task t using (file_id)
  where f.tenant_id = v_task.tenant_id and f.blob_path not like 'removed/%';
  if v_stuck is null and v_left > 0 then
    return internal.progress('waiting_for_files', jsonb_build_object(
      'files', v_left,
      'next_check_at', internal.next_check(
        v_process, v_task_id,
        internal.clock() + least(interval '30 seconds', interval '1 second'
          + (internal.clock() - v_attempt.created_at) / 10))));
  end if;

  -- Secrets outside the database
  if v_stuck is null then
    v_left := vault.doom_parameters(v_task.tenant_id);
    if v_left > 0 then
      return internal.progress('waiting_for_parameters', jsonb_build_object(
        'parameters', v_left,
        'next_check_at', internal.next_check(
          v_process, v_task_id,
          internal.clock() + least(interval '30 seconds', interval '1 second'
            + (internal.clock() - v_attempt.created_at) / 10))));
    end if;
  end if;

  -- The account itself
  if v_stuck is null then
    perform accounts.kickoff_account_anonymization(v_task.tenant_id);
    if accounts.is_account_anonymization_stuck(v_task.tenant_id) then
      select format('the account could not be anonymized: %s', x.error_message) into v_stuck
      from accounts.account_anonymization_task_failed x
      where x.tenant_id = v_task.tenant_id order by x.account_anonymization_attempt_id desc limit 1;
    elsif not exists (select from accounts.account_anonymization_task_succeeded s where s.tenant_id = v_task.tenant_id) then
      return internal.progress('waiting_for_anonymization', jsonb_build_object(
        'next_check_at', internal.next_check(v_process, v_task_id, internal.clock() + interval '5 seconds')));
    end if;
  end if;

  -- Output
  if v_stuck is not null then
    insert into accounts.account_deletion_attempt_failed (
      account_deletion_attempt_id, tenant_id, error_message, retriable, created_at)
    values (v_attempt.account_deletion_attempt_id, v_task.tenant_id, v_stuck, false, internal.clock());
    perform internal.end_process(v_process, v_task_id);
    return jsonb_build_object('status', 'stuck', 'error', v_stuck);
  end if;
  insert into accounts.account_deletion_attempt_succeeded (account_deletion_attempt_id, tenant_id, created_at)
  values (v_attempt.account_deletion_attempt_id, v_task.tenant_id, internal.clock());
  perform accounts.write_deletion_receipt(v_task);
  perform internal.end_process(v_process, v_task_id);
  return internal.progress('done');
end;
$$;
