-- Treats the next items of an operation and says what follows: `more`, `watch` (the canary is out), `done`, or `over` (it was stopped,
-- or another worker has it). Items and position move together, so an item is treated once. What an item's own state forbids is
-- skipped; what fails otherwise is counted with its message; a deadlock or a full server ends the batch, which is repeated.
-- Runs with its caller's rights. Locks: the operation's row, then each item's. Raises PS012.
create or replace function ingest.do_batch(_operation_id uuid, _run integer, _limit integer)
returns text
language plpgsql
as $$
declare
  v_operation ingest.operation;
  v_tenant text := coalesce(current_setting('penstock.tenant_id', true), '');
  v_item ingest.operation_item;
  v_outcome text;
  v_reason text;
  v_code text;
  v_until bigint;
  v_began timestamptz := clock_timestamp();
  v_seconds double precision;
  v_ordinals bigint[] := '{}';
  v_outcomes text[] := '{}';
  v_reasons text[] := '{}';
begin
  select * into v_operation from ingest.operation o where o.operation_id = _operation_id for update;
  if not found or v_operation.run <> _run or v_operation.finished_at is not null then
    return 'over';
  end if;
  if v_operation.total is null then
    v_operation.total := ingest.choose_items(v_operation);
    if v_operation.total is null then
      return 'over';
    end if;
    return 'more';
  end if;
  v_until := v_operation.total;
  if v_operation.canary_state = 'running' then
    v_until := v_operation.canary_size;
  end if;
  for v_item in
    select i.* from ingest.operation_item i
    where i.operation_id = _operation_id and i.ordinal >= v_operation.next_ordinal and i.ordinal < v_until
    order by i.ordinal limit _limit
  loop
    v_reason := null;
    begin
      perform set_config('penstock.tenant_id', coalesce(nullif(v_item.tenant_id, internal.no_tenant())::text, ''), true);
      v_reason := ingest.act_on(v_operation.action::text, v_item.item, v_operation.started_by, v_operation.filter ->> 'own');
      v_outcome := case when v_reason is null then 'done' else 'skipped' end;
    exception
      when others then
        get stacked diagnostics v_code = returned_sqlstate, v_reason = message_text;
        if left(v_code, 2) in ('40', '53', '55', '57', '58', 'XX') then
          raise;
        end if;
        v_outcome := case when v_code in ('PS007', 'PS011', 'PS013') then 'skipped' else 'failed' end;
    end;
    v_ordinals := v_ordinals || v_item.ordinal;
    v_outcomes := v_outcomes || v_outcome;
    -- An id in a message would make every reason another one.
    v_reasons := v_reasons || left(regexp_replace(v_reason, '\m[0-9a-f]{8}-[0-9a-f-]{27}\M|\m[0-9]{2,}\M', '…', 'g'), 200);
  end loop;
  perform set_config('penstock.tenant_id', v_tenant, true);
  update ingest.operation_item i set outcome = t.outcome::ingest.item_outcome, reason = t.reason
  from unnest(v_ordinals, v_outcomes, v_reasons) as t (ordinal, outcome, reason)
  where i.operation_id = _operation_id and i.ordinal = t.ordinal;
  v_seconds := extract(epoch from clock_timestamp() - v_began) / greatest(cardinality(v_ordinals), 1);
  update ingest.operation o set
    done = o.done + t.done,
    skipped = o.skipped + t.skipped,
    failed = o.failed + t.failed,
    reasons = ingest.add_reasons(o.reasons, v_outcomes, v_reasons),
    next_ordinal = o.next_ordinal + cardinality(v_ordinals),
    -- Welford's method: mean and variance without keeping the batches.
    batches = o.batches + 1,
    seconds_mean = o.seconds_mean + (v_seconds - o.seconds_mean) / (o.batches + 1),
    seconds_m2 = o.seconds_m2
      + (v_seconds - o.seconds_mean) * (v_seconds - o.seconds_mean - (v_seconds - o.seconds_mean) / (o.batches + 1)),
    updated_at = internal.clock()
  from (
    select count(*) filter (where u.outcome = 'done') as done, count(*) filter (where u.outcome = 'skipped') as skipped,
      count(*) filter (where u.outcome = 'failed') as failed
    from unnest(v_outcomes) as u (outcome)) t
  where o.operation_id = _operation_id
  returning o.* into v_operation;
  if v_operation.next_ordinal < v_until then
    return 'more';
  elsif v_operation.canary_state = 'running' then
    update ingest.operation o set
      state = 'watching', canary_state = 'watching', watched_since = internal.clock()
    where o.operation_id = _operation_id;
    return 'watch';
  end if;
  perform ingest.end_operation(_operation_id, 'done');
  return 'done';
end;
$$;
