-- How many jobs of a queue of BullMQ 6's Postgres backend wait, counted up to 10,001. Security invoker, as take_from_bullmq().
create or replace function queues.bullmq_waiting(_bullmq_queue text, _schema text default 'bullmq')
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_waiting bigint;
begin
  execute format(
    $count$
      select count(*) from (select from %I.job j where j.queue = $1 and j.state = 'waiting' limit 10001) w
    $count$, _schema)
  into v_waiting using _bullmq_queue;
  return v_waiting;
end;
$$;
