-- Before handler of `chat`: returns what the channel has to do in an attempt; write here what it needs to know. The
-- channel's class gets `payload` as its request. An error raised here is retried by the queue; return
-- internal.refusal() if a retry cannot help. Raises PS012.
create or replace function mill.get_announce_payload(_payload jsonb)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt_id bigint := internal.payload_id(_payload, 'announce_attempt_id');
  v_task mill.announce_task;
begin
  if v_attempt_id is null then
    return internal.refusal('missing_attempt_id', 'announce_attempt_id must be the number of an attempt');
  end if;
  select t.* into v_task
  from mill.announce_attempt a
  join mill.announce_task t using (announce_task_id)
  where a.tenant_id = internal.require_tenant() and a.announce_attempt_id = v_attempt_id;
  if not found then
    return internal.refusal('attempt_not_found', format('there is no announce attempt %s', v_attempt_id));
  end if;
  return jsonb_build_object('status', 'succeeded', 'payload', jsonb_build_object('subject', v_task.subject));
end;
$$;
