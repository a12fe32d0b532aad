-- Moves a batch of an inlet's pgmq queue in one transaction: read, enqueue, archive. Exactly once without a ledger: what does
-- not commit was never read. A bad message goes to pgmq's archive; its reason is in inlet_refusals() under its msg_id. What
-- Postgres rejects for any other cause fails the batch, and is refused once it is read alone.
-- Columns of pgmq are always named: 1.4.4, 1.5.1 and 1.13 have them in different places. `bytes`: the size of the batch, by
-- which the caller chooses the next _limit. Locks: the messages, skipping those of others. Raises PS005, PS013, PS023.
create or replace function queues.take_from_pgmq(_inlet text, _limit integer default 100)
returns table (received integer, taken integer, refused integer, lag_seconds double precision, bytes bigint)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_inlet queues.inlet := queues.open_inlet(_inlet);
  v_queue text := v_inlet.config ->> 'queue';
  v_type text := v_inlet.config ->> 'task_type';
  v_envelope boolean := v_inlet.config ->> 'shape' is not distinct from 'envelope';
  v_ids bigint[];
  v_payloads jsonb[];
  v_plain boolean;
  v_messages jsonb;
  v_sent_at timestamptz;
  v_archived integer;
  v_archived_at timestamptz;
  v_refused_ids text[] := '{}';
  v_reasons text[] := '{}';
  v_tenant_ids uuid[] := '{}';
begin
  if v_inlet.kind <> 'pgmq' or v_queue is null then
    raise exception using errcode = 'PS005', detail = 'inlet',
      message = format('inlet %L does not read pgmq', _inlet), hint = 'Name an inlet that was added by penstock inlet add pgmq.';
  end if;
  if not coalesce(
    has_schema_privilege(to_regnamespace('pgmq'), 'usage')
    and has_table_privilege(to_regclass(internal.pgmq_table(v_queue, 'q')), 'delete'), false)
  then
    raise exception using errcode = 'PS013', detail = 'queue',
      message = format('pgmq has no queue %L, or it was created again since the inlet was added', left(v_queue, 80)),
      hint = format('Create it, then add the inlet again with its options: penstock inlet add pgmq %s', _inlet);
  end if;
  execute $read$
    select array_agg(m.msg_id order by m.msg_id), array_agg(m.message order by m.msg_id),
      bool_and(jsonb_typeof(m.message) = 'object' and pg_column_size(m.message) <= 16777216),
      min(m.enqueued_at), sum(pg_column_size(m.message))::bigint
    from pgmq.read($1, $2, $3) m
  $read$
  into v_ids, v_payloads, v_plain, v_sent_at, bytes
  using v_queue, 30, _limit;
  received := coalesce(cardinality(v_ids), 0);
  if received = 0 then
    taken := 0;
    refused := 0;
    lag_seconds := 0;
    return next;
    return;
  end if;

  -- Payloads of one type are enqueued as they are; only if that fails, or for envelopes, is each message looked at.
  v_plain := v_plain and not v_envelope and v_type is not null and (v_inlet.task_types is null or v_type = any (v_inlet.task_types));
  if v_plain then
    begin
      taken := cardinality(queues.enqueue_many(v_type, v_payloads, _tenant_id => v_inlet.tenant_id));
    exception
      when sqlstate 'PS001' or sqlstate 'PS002' or sqlstate 'PS003' or sqlstate 'PS004' or sqlstate 'PS005' or sqlstate 'PS017' then
        v_plain := false;
      when others then
        -- Alone, it is refused below. In a batch another may be to blame: the caller tries a smaller one.
        if received > 1 or not internal.is_about_data(sqlstate) then
          raise;
        end if;
        v_plain := false;
    end;
  end if;
  if not v_plain then
    -- An envelope is the message itself; otherwise the message is the payload. One that is too large is not copied.
    select jsonb_agg(case
      when pg_column_size(m.message) > 16777216 then '{"refused": "it is larger than 16 MiB"}'::jsonb
      when v_envelope then m.message
      else jsonb_build_object('payload', m.message) end order by m.n)
    into v_messages
    from unnest(v_payloads) with ordinality as m (message, n);
    select count(*) filter (where q.outcome = 'taken'),
      coalesce(array_agg(v_ids[q.position + 1]::text) filter (where q.outcome = 'refused'), '{}'),
      coalesce(array_agg(q.reason) filter (where q.outcome = 'refused'), '{}'),
      coalesce(array_agg(q.tenant_id) filter (where q.outcome = 'refused'), '{}')
    into taken, v_refused_ids, v_reasons, v_tenant_ids
    from queues.enqueue_incoming(v_inlet, v_messages) q;
  end if;
  refused := cardinality(v_refused_ids);
  execute 'select count(*)::integer from pgmq.archive($1, $2)' into v_archived using v_queue, v_ids;
  if v_archived <> received or taken + refused <> received then
    raise exception using errcode = 'serialization_failure',
      message = format('pgmq archived %s of %s messages; nothing was moved', v_archived, received);
  end if;
  if refused > 0 then
    -- One refused before under the same id was another message: its queue has been dropped and created since.
    delete from queues.inlet_refusal r where r.inlet_id = v_inlet.inlet_id and r.message_key = any (v_refused_ids);
    execute format(
      'select max(a.archived_at) from %s a where a.msg_id = any ($1::bigint[])', internal.pgmq_table(v_queue, 'a'))
    into v_archived_at using v_refused_ids;
  end if;
  perform queues.note_incoming(
    v_inlet.inlet_id, received, taken, 0, v_sent_at, v_refused_ids, v_reasons, v_tenant_ids, v_archived_at);
  lag_seconds := greatest(0, extract(epoch from clock_timestamp() - v_sent_at));
  return next;
end;
$$;
