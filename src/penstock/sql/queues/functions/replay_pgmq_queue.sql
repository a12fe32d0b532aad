-- Sends messages from the archive of a pgmq queue that no inlet reads again, under new ids, for a consumer of its own: those with
-- these ids, or without ids all that pgmq_read() archived because they were delivered _max_reads times. Returns how many. Leaves
-- an audit row. Of a queue that an inlet reads read_ct tells nothing: a message may be taken in at its fifth delivery.
-- Locks: the archived messages. Raises PS005, PS013, PS014.
create or replace function queues.replay_pgmq_queue(
  _queue text,
  _msg_ids bigint[] default null,
  _by text default null,
  _max_reads integer default 5
)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids bigint[] := _msg_ids;
  v_archive oid;
  v_inlet text;
  v_count integer;
begin
  if coalesce(_queue, '') = '' then
    raise exception using errcode = 'PS005', detail = 'queue',
      message = 'no queue of pgmq was named', hint = 'Name one: select queue_name from pgmq.list_queues()';
  end if;
  select i.name into v_inlet from queues.inlet i
  where i.kind = 'pgmq' and lower(i.config ->> 'queue') = lower(_queue) and i.removed_at is null;
  if found then
    raise exception using errcode = 'PS014', detail = 'queue',
      message = format('the inlet %L reads the queue %L of pgmq', v_inlet, left(_queue, 80)),
      hint = format('Replay what it refused, or messages by their ids: penstock inlet replay %s', v_inlet);
  end if;
  select c.oid into v_archive
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'pgmq' and c.relname = lower('a_' || _queue);
  if v_archive is null then
    raise exception using errcode = 'PS013', detail = 'queue',
      message = format('pgmq has no queue %L', left(_queue, 80)),
      hint = 'Name another: select queue_name from pgmq.list_queues()';
  end if;
  if not has_schema_privilege('pgmq', 'usage') or not has_table_privilege(v_archive, 'delete') then
    raise exception using errcode = 'PS013', detail = 'queue',
      message = format('Penstock was not given the queue %L of pgmq', left(_queue, 80)),
      hint = format('Prepare it: penstock inlet add pgmq --queue %s --wrappers-only', left(_queue, 80));
  end if;
  if v_ids is null then
    execute format(
      'select coalesce(array_agg(a.msg_id), ''{}'') from %s a where a.read_ct >= $1', internal.pgmq_table(_queue, 'a'))
    into v_ids using _max_reads;
  end if;
  v_count := queues.resend_pgmq(_queue, v_ids);
  perform queues.note_audit(
    'replay inlet', 'pgmq:' || lower(_queue), jsonb_strip_nulls(jsonb_build_object('by', _by, 'messages', v_count)));
  return v_count;
end;
$$;
