-- The whole payload of a task, for a person who asks to see it; leaves an audit row. Raises PS007.
create or replace function queues.reveal_task(_task_id bigint, _by text default null)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_payload jsonb := queues.show_task(_task_id) -> 'payload';
begin
  perform queues.note_audit('reveal', _task_id::text, jsonb_strip_nulls(jsonb_build_object('by', _by)));
  return v_payload;
end;
$$;
