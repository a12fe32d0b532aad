-- Keeps the inlets' tables small: removes ledger rows past their inlet's retention (the oldest, at most _limit; returns how
-- many), adds up old counts, forgets refusals after 30 days and removed inlets once their ledger is empty. The ledger is read
-- by its index of times: a plan that was made while it was empty would read it whole for as long as the session lives. One
-- caller at a time (advisory try-lock); the others get 0.
create or replace function queues.sweep_inlets(_limit integer default 10000)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
  v_now timestamptz := internal.clock();
  v_inlet queues.inlet;
  v_count integer;
  v_total integer := 0;
begin
  if not pg_try_advisory_xact_lock(7306573, 2) then
    return 0;
  end if;
  for v_inlet in select i.* from queues.inlet i order by i.inlet_id loop
    delete from queues.taken t
    where t.ctid = any (array(
      select o.ctid from queues.taken o
      where o.inlet_id::bigint = v_inlet.inlet_id::bigint and o.taken_at < v_now - v_inlet.retention
      order by o.taken_at
      limit _limit - v_total for update skip locked));
    get diagnostics v_count = row_count;
    v_total := v_total + v_count;
    with old as (
      delete from queues.inlet_count c
      where c.inlet_id = v_inlet.inlet_id and c.at < v_now - interval '10 minutes' and (
        select count(*) from queues.inlet_count o
        where o.inlet_id = v_inlet.inlet_id and o.at < v_now - interval '10 minutes') > 1
      returning c.*
    )
    insert into queues.inlet_count (inlet_id, at, received, taken, duplicates, refused, lag, last_taken_at)
    select v_inlet.inlet_id, max(o.at), sum(o.received), sum(o.taken), sum(o.duplicates), sum(o.refused),
      (array_agg(o.lag order by o.at desc))[1], max(o.last_taken_at)
    from old o having count(*) > 0;
    if v_inlet.removed_at < v_now and not exists (select from queues.taken t where t.inlet_id = v_inlet.inlet_id) then
      delete from queues.inlet_count c where c.inlet_id = v_inlet.inlet_id;
      delete from queues.inlet_refusal r where r.inlet_id = v_inlet.inlet_id;
      delete from queues.inlet i where i.inlet_id = v_inlet.inlet_id and i.removed_at is not null;
    end if;
  end loop;
  delete from queues.inlet_refusal r where r.at < v_now - interval '30 days';
  return v_total;
end;
$$;
