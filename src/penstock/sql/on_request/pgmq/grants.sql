-- Lets the queue's owner read, write and archive one pgmq queue; `penstock inlet add pgmq` runs it, not a migration, because
-- pgmq may be absent. The setting penstock.pgmq_queue names the queue. Raises PS013 if pgmq or the queue is not there.
do $grants$
declare
  v_queue text := current_setting('penstock.pgmq_queue');
  v_table text;
begin
  if to_regclass('pgmq.meta') is null then
    raise exception using errcode = 'PS013', detail = 'queue',
      message = 'this database has no pgmq',
      hint = 'Install it: create extension pgmq; or run the SQL file that pgmq distributes.';
  end if;
  foreach v_table in array array[internal.pgmq_table(v_queue, 'q'), internal.pgmq_table(v_queue, 'a')]
  loop
    if to_regclass(v_table) is null then
      raise exception using errcode = 'PS013', detail = 'queue',
        message = format('pgmq has no queue %L', v_queue),
        hint = format('Create it: select pgmq.create(%L); or name another: select queue_name from pgmq.list_queues()', v_queue);
    end if;
    execute format('grant select, insert, update, delete on %s to penstock_queue', v_table);
  end loop;
  grant usage on schema pgmq to penstock_queue;
  grant select on pgmq.meta to penstock_queue;
  grant execute on all functions in schema pgmq to penstock_queue;
  -- The trigger of pgmq.enable_notify_insert() writes it on every send.
  if to_regclass('pgmq.notify_insert_throttle') is not null then
    grant select, update on pgmq.notify_insert_throttle to penstock_queue;
  end if;
end
$grants$;
