-- How many messages of an inlet's pgmq queue can be read now, counted up to 10,001, and for how long the oldest has waited.
create or replace function queues.pgmq_waiting(_inlet text)
returns table (waiting bigint, oldest_seconds double precision)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_inlet queues.inlet := queues.find_inlet(_inlet);
begin
  return query execute format(
    $count$
      select count(*), extract(epoch from clock_timestamp() - min(m.enqueued_at))::double precision
      from (select q.enqueued_at from %s q where q.vt <= clock_timestamp() order by q.msg_id limit 10001) m
    $count$, internal.pgmq_table(v_inlet.config ->> 'queue', 'q'));
end;
$$;
