-- Moves due tasks from waiting to ready with new tickets, and decides keys, slots and rates. Claim runs it first; any
-- caller may run it. A key that is busy in another transaction is postponed by 25 ms; nothing waits.
-- Returns the number of rows it examined: a full batch means there is more.
create or replace function queues.admit(_queue_id smallint, _limit integer default 1000)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_nestloop = on
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := internal.clock();
  v_key bytea;
  v_row queues.waiting;
  v_keyed queues.waiting[];
  v_seen integer := 0;
begin
  for v_key in
    select distinct f.key from (
      select c.key from queues.freed c where c.queue_id = _queue_id order by c.queue_id, c.freed_id limit _limit) f
  loop
    perform queues.hand_over(v_key, _queue_id);
    v_seen := v_seen + 1;
  end loop;

  with due as (
    delete from queues.waiting w
    where w.ctid = any (array(
      select c.ctid
      from queues.waiting c
      where c.queue_id = _queue_id and c.due_at <= v_now
      order by c.queue_id, c.due_at, c.seq
      limit _limit
      for update skip locked))
    returning w.*
  ), plain as (
    insert into queues.ready (lane, seq, task_id, failures, losses, held)
    select
      case when d.failures + d.losses > 0 then internal.return_lane(d.lane, d.losses) else d.lane end,
      nextval('queues.task_id_seq'), d.task_id, d.failures, d.losses, d.held
    from (select * from due c where not c.keyed order by c.due_at, c.seq) d
  )
  select
    array_agg(row(d.*)::queues.waiting order by d.due_at, d.seq) filter (where d.keyed),
    v_seen + count(*)
  into v_keyed, v_seen
  from due d;

  if v_keyed is not null then
    foreach v_row in array v_keyed loop
      if v_row.wake_key is not null then
        if queues.hand_over(v_row.wake_key, _queue_id) then
          continue;
        end if;
      elsif queues.admit_keyed(
        v_row.task_id, _queue_id, v_row.lane, v_row.failures, v_row.losses, v_row.held, v_row.tenant_id)
      then
        continue;
      end if;
      v_row.due_at := v_now + interval '25 milliseconds';
      insert into queues.waiting values (v_row.*);
    end loop;
  end if;
  return v_seen;
end;
$$;
