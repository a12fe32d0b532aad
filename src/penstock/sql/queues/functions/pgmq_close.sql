-- Deletes a message of a pgmq queue, or archives it; what public.ingestion_delete() and ingestion_archive() call. pgmq has no
-- fence: with _read_ct, the one that was read, a consumer whose time ran out closes nothing that another one holds by now.
-- Returns whether it closed the message. Locks: the message.
create or replace function queues.pgmq_close(_queue text, _msg_id bigint, _read_ct integer, _archive boolean)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found boolean;
begin
  execute format(
    'select true from %s q where q.msg_id = $1 and ($2 is null or q.read_ct = $2) for update',
    internal.pgmq_table(_queue, 'q'))
  into v_found using _msg_id, _read_ct;
  if v_found is null then
    return false;
  end if;
  execute format('select pgmq.%s($1, $2)', case when _archive then 'archive' else 'delete' end)
  into v_found using _queue, _msg_id;
  return v_found;
end;
$$;
