-- Reads messages of a pgmq queue for a consumer of its own; what public.ingestion_read() calls. A message that is delivered for
-- the _max_reads-th time is archived instead, and the ingestion job it names (job_id or ingestion_job_id) fails with
-- max_retries_exceeded, in the same transaction. `read_ct` is the fence of the close: pass it to pgmq_delete().
-- Locks: the messages, skipping those of others; the jobs it ends.
create or replace function queues.pgmq_read(_queue text, _vt integer, _qty integer, _max_reads integer default 5)
returns setof queues.pgmq_message
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_message queues.pgmq_message;
  v_returned integer := 0;
  v_dead integer;
begin
  loop
    v_dead := 0;
    for v_message in execute
      'select m.msg_id, m.read_ct, m.enqueued_at, m.vt, m.message from pgmq.read($1, $2, $3) m order by m.msg_id'
      using _queue, _vt, _qty - v_returned
    loop
      if v_message.read_ct >= _max_reads then
        v_dead := v_dead + 1;
        execute 'select pgmq.archive($1, $2)' using _queue, v_message.msg_id;
        perform all_tenants.fail_job(coalesce(v_message.message ->> 'job_id', v_message.message ->> 'ingestion_job_id'));
      else
        v_returned := v_returned + 1;
        return next v_message;
      end if;
    end loop;
    -- A consumer must not think that the queue is empty because what it read was dead.
    exit when v_dead = 0 or v_returned >= _qty;
  end loop;
end;
$$;
