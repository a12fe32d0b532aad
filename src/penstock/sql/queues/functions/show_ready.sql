-- Puts one task into ready with a fresh ticket: into its own lane the first time, into the return lane after.
-- Returns the ticket.
create or replace function queues.show_ready(
  _lane bigint, _task_id bigint, _attempt integer, _losses integer, _held integer, out lane bigint, out seq bigint
)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_current_xact_id();
  lane := case when _attempt + _losses > 0 then internal.return_lane(_lane, _losses) else _lane end;
  seq := nextval('queues.task_id_seq');
  insert into queues.ready (lane, seq, task_id, attempt, losses, held)
  values (show_ready.lane, show_ready.seq, _task_id, _attempt, _losses, _held);
end;
$$;
