-- Sends messages of a pgmq queue's archive again, under new ids, and removes them there, so that nobody sends them twice; returns
-- how many. What replay_pgmq() and replay_pgmq_queue() do once they know which. Locks: the archived messages.
create or replace function queues.resend_pgmq(_queue text, _msg_ids bigint[])
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_headers boolean;
  v_count integer;
begin
  select exists (
    select from pg_attribute a
    where a.attrelid = to_regclass(internal.pgmq_table(_queue, 'a')) and a.attname = 'headers' and not a.attisdropped)
  into v_headers;
  execute format(
    'with back as (delete from %s a where a.msg_id = any ($1) returning a.*)
     select count(*)::integer from (select * from back order by back.msg_id) b cross join lateral pgmq.send($2, b.message%s)',
    internal.pgmq_table(_queue, 'a'), case when v_headers then ', b.headers' else '' end)
  into v_count using _msg_ids, _queue;
  return v_count;
end;
$$;
