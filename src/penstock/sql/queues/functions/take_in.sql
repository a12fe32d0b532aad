-- Makes tasks of messages that another system delivered, exactly once: the ledger row and the task are one transaction, so
-- the caller may acknowledge after the commit, and a redelivery is a 'duplicate'. Anybody who can connect may be a bridge.
-- A message is what enqueue_incoming() reads, with `key`, its identity at the sender for as long as that may redeliver it, and
-- perhaps `sent_at`. Send payloads as text: a payload that jsonb can't hold is then refused alone. Positions count from 0.
-- Outcomes: 'taken', 'duplicate' (its task_id is the first one's), 'refused' with a reason. Acknowledge the first two; put the
-- third into the sender's own place for dead letters.
-- The ledger is looked up key by key: a plan that was made while it was empty would join it whole for as long as the session lives.
-- Locks: the ledger's keys, in their order, waiting for another call that takes the same message. Raises PS005, PS013, PS023.
create or replace function queues.take_in(_inlet text, _messages jsonb)
returns table ("position" integer, outcome text, task_id bigint, reason text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_inlet queues.inlet := queues.open_inlet(_inlet);
  v_rows jsonb;
  v_hashes bytea[];
  v_fresh integer[];
  v_conflict text;
begin
  if jsonb_typeof(_messages) is distinct from 'array' or jsonb_array_length(_messages) > 10000 then
    raise exception using errcode = 'PS005', detail = 'messages',
      message = 'the messages are not a JSON array of at most 10,000', hint = 'Send an array, in smaller batches.';
  end if;
  select array_agg(internal.key_hash('inlet', coalesce(e.message ->> 'key', '')) order by e.n) into v_hashes
  from jsonb_array_elements(_messages) with ordinality as e (message, n);
  if v_hashes is null then
    return;
  end if;

  for v_try in 1 .. 5 loop
    begin
      -- The first message of each key that is not in the ledger.
      select array_agg(f.n order by f.n) into v_fresh
      from (select h.hash, min(h.n)::integer as n from unnest(v_hashes) with ordinality as h (hash, n) group by h.hash) f
      left join lateral (
        select t.task_id from queues.taken t
        where t.inlet_id = v_inlet.inlet_id and t.key_hash = f.hash
        limit 1) t on true
      where t.task_id is null;
      with enqueued as (
        select v_fresh[q.position + 1] as n, q.outcome, q.task_id, q.tenant_id, q.reason
        from queues.enqueue_incoming(v_inlet, (
          select jsonb_agg(case
            when coalesce(_messages -> (f.n - 1) ->> 'key', '') = '' then '{"refused": "it has no key"}'::jsonb
            else _messages -> (f.n - 1) end order by f.n)
          from unnest(v_fresh) as f (n))) q
        where v_fresh is not null
      ), ledger as (
        insert into queues.taken (inlet_id, key_hash, task_id, taken_at, tenant_id)
        select v_inlet.inlet_id, v_hashes[q.n], q.task_id, internal.clock(), q.tenant_id
        from enqueued q where q.outcome = 'taken'
        order by v_hashes[q.n]
      )
      select jsonb_agg(to_jsonb(q)) into v_rows from enqueued q;
      exit;
    exception
      when unique_violation then
        get stacked diagnostics v_conflict = constraint_name;
        -- Another call has just taken one of them: look again. In a transaction that sees no newer rows that is in vain.
        if v_conflict <> 'taken_pkey' or v_try = 5 or current_setting('transaction_isolation') <> 'read committed' then
          raise;
        end if;
    end;
  end loop;

  return query
    with enqueued as (
      select q.n, q.outcome, q.task_id, q.tenant_id, q.reason, v_hashes[q.n] as hash
      from jsonb_to_recordset(v_rows) as q (n integer, outcome text, task_id bigint, tenant_id uuid, reason text)
    ), answered as (
      select
        h.n::integer as n,
        case when q.n = h.n or q.outcome = 'refused' then q.outcome else 'duplicate' end as outcome,
        coalesce(q.task_id, t.task_id) as task_id,
        q.reason,
        q.tenant_id
      from unnest(v_hashes) with ordinality as h (hash, n)
      left join enqueued q on q.hash = h.hash
      left join lateral (
        select t.task_id from queues.taken t
        where q.n is null and t.inlet_id = v_inlet.inlet_id and t.key_hash = h.hash
        limit 1) t on true
    ), noted as (
      select queues.note_incoming(
        v_inlet.inlet_id, count(*)::integer, count(*) filter (where a.outcome = 'taken')::integer,
        count(*) filter (where a.outcome = 'duplicate')::integer,
        (select min(internal.time_of(e.message ->> 'sent_at')) from jsonb_array_elements(_messages) as e (message)),
        coalesce(array_agg(coalesce(_messages -> (a.n - 1) ->> 'key', '')) filter (where a.outcome = 'refused'), '{}'),
        coalesce(array_agg(a.reason) filter (where a.outcome = 'refused'), '{}'),
        coalesce(array_agg(a.tenant_id) filter (where a.outcome = 'refused'), '{}')) as done
      from answered a
    )
    select a.n - 1, a.outcome, a.task_id, a.reason from answered a, noted order by a.n;
end;
$$;
