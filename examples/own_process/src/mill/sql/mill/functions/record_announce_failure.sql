-- Error handler: records, once, that the attempt failed, unless it has succeeded, and wakes the supervisor. A failure
-- that a retry cannot fix is marked as not retriable. Raises PS012.
create or replace function mill.record_announce_failure(_payload jsonb)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt_id bigint := internal.payload_id(_payload -> 'original_payload', 'announce_attempt_id');
  v_attempt mill.announce_attempt;
begin
  if v_attempt_id is null then
    return internal.refusal(
      'missing_attempt_id', 'original_payload.announce_attempt_id must be the number of an attempt');
  end if;
  select * into v_attempt from mill.announce_attempt a
  where a.tenant_id = internal.require_tenant() and a.announce_attempt_id = v_attempt_id;
  if not found then
    return internal.refusal('attempt_not_found', format('there is no announce attempt %s', v_attempt_id));
  end if;
  insert into mill.announce_attempt_failed (announce_attempt_id, tenant_id, error_message, retriable, created_at)
  select v_attempt_id, v_attempt.tenant_id, internal.error_of(_payload), internal.is_retriable(_payload), internal.clock()
  where not exists (
    select from mill.announce_attempt_succeeded s where s.announce_attempt_id = v_attempt_id)
  on conflict do nothing;
  if found then
    perform internal.next_check('mill.announce', v_attempt.announce_task_id);
  end if;
  return internal.progress('recorded');
end;
$$;
