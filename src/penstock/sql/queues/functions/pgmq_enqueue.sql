-- Sends a message to a pgmq queue; what public.ingestion_enqueue() calls. Returns its msg_id.
create or replace function queues.pgmq_enqueue(_queue text, _message jsonb, _delay integer)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id bigint;
begin
  execute 'select s.id from pgmq.send($1, $2, $3::integer) as s (id)' into v_id using _queue, _message, _delay;
  return v_id;
end;
$$;
