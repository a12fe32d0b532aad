-- Sends messages from the archive of an inlet's pgmq queue again, under new ids, and removes them there, so that nobody replays
-- them twice: those with these ids, or without ids all that the inlet refused. Returns how many. Leaves an audit row.
-- Locks: the archived messages. Raises PS005, PS013.
create or replace function queues.replay_pgmq(_inlet text, _msg_ids bigint[] default null, _by text default null)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_inlet queues.inlet := queues.find_inlet(_inlet);
  v_queue text := v_inlet.config ->> 'queue';
  v_ids bigint[] := _msg_ids;
  v_count integer;
begin
  if v_inlet.kind <> 'pgmq' or v_queue is null then
    raise exception using errcode = 'PS005', detail = 'inlet',
      message = format('inlet %L does not read pgmq', _inlet),
      hint = 'Messages of other senders are in their own dead-letter queue: use its own redrive.';
  end if;
  if v_ids is null then
    -- Ids begin again when a queue is dropped and created, so that an old refusal may have the id of a message that was taken
    -- since. The time tells them apart: a refusal has that of the archive. Earlier releases noted the statement's time, which
    -- is a moment later, never earlier.
    execute format(
      'select coalesce(array_agg(a.msg_id), ''{}'')
       from queues.inlet_refusal r
       join %s a on a.msg_id = case when r.message_key ~ ''^[0-9]{1,18}$'' then r.message_key::bigint end
         and a.archived_at between r.at - interval ''1 minute'' and r.at
       where r.inlet_id = $1', internal.pgmq_table(v_queue, 'a'))
    into v_ids using v_inlet.inlet_id;
  end if;
  v_count := queues.resend_pgmq(v_queue, v_ids);
  delete from queues.inlet_refusal r
  where r.inlet_id = v_inlet.inlet_id and (
    r.message_key = any (select i.id::text from unnest(v_ids) as i (id))
    or _msg_ids is null and r.message_key ~ '^[0-9]{1,18}$');
  perform queues.note_audit(
    'replay inlet', _inlet, jsonb_strip_nulls(jsonb_build_object('by', _by, 'messages', v_count)));
  return v_count;
end;
$$;
