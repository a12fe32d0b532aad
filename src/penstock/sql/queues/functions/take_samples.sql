-- Writes the samples of the minutes that ended, for the history of queues: what ended in each by queue and tenant, and the
-- depths now. The last three minutes are counted again, because a close may commit after its minute has ended; anything
-- older than an hour that nobody sampled stays a gap. Of more than 50,000 ends in a minute it reads every n-th and counts it
-- n times. Repeating it changes nothing. Returns how many rows it wrote, null while another caller does it.
-- Locks: an advisory try-lock; the rows it writes.
create or replace function queues.take_samples(_keep interval default interval '8 days')
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
  v_end timestamptz := date_trunc('minute', internal.clock());
  v_minute timestamptz;
  v_every bigint;
  v_count integer;
  v_written integer := 0;
begin
  if not pg_try_advisory_xact_lock(7306573, 3) then
    return null;
  end if;
  if exists (
    select from queues.sample s where s.tenant_id is null and s.minute = v_end - interval '1 minute' and s.ready is not null)
  then
    return 0;
  end if;
  v_minute := greatest(
    v_end - interval '60 minutes',
    least(v_end - interval '3 minutes', coalesce(
      (select max(s.minute) from queues.sample s where s.tenant_id is null), v_end - interval '60 minutes')));
  -- Only the minutes in which something ended: a new installation has an empty hour behind it.
  for v_minute, v_every in
    select date_trunc('minute', a.closed_at), greatest(1, count(*) / 50000)
    from queues.attempt a
    where a.closed_at >= v_minute and a.closed_at < v_end
    group by 1
    order by 1
  loop
    insert into queues.sample as s (queue_id, tenant_id, minute, done, failed, waited, ran)
    select c.queue_id, c.tenant_id, v_minute, coalesce(v_every * sum(c.ended) filter (where c.kind = 'done'), 0),
      coalesce(v_every * sum(c.ended) filter (where c.kind = 'failed'), 0),
      internal.histogram(jsonb_object_agg(c.bucket, v_every * c.ended) filter (where c.kind = 'waited')),
      internal.histogram(jsonb_object_agg(c.bucket, v_every * c.ended) filter (where c.kind = 'ran'))
    from queues.count_ends(v_minute, v_every) c
    group by 1, 2
    on conflict (tenant_id, queue_id, minute) do update set
      done = excluded.done, failed = excluded.failed, waited = excluded.waited, ran = excluded.ran
    where (s.done, s.failed) is distinct from (excluded.done, excluded.failed);
    get diagnostics v_count = row_count;
    v_written := v_written + v_count;
  end loop;
  insert into queues.sample as s (queue_id, tenant_id, minute, ready, running, waiting, dead)
  select d.queue_id, d.tenant_id, v_end - interval '1 minute', d.ready, d.running, d.waiting, d.dead
  from queues.count_depths() d
  on conflict (tenant_id, queue_id, minute) do update set
    ready = excluded.ready, running = excluded.running, waiting = excluded.waiting, dead = excluded.dead;
  get diagnostics v_count = row_count;
  delete from queues.sample s where s.minute < v_end - _keep;
  return v_written + v_count;
end;
$$;
