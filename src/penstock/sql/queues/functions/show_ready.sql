-- Puts one task into ready with a new ticket: into its own lane the first time, into the return lane after a failure or a
-- loss. Returns the ticket.
create or replace function queues.show_ready(
  _lane bigint, _task_id bigint, _failures integer, _losses integer, _held integer, out lane bigint, out seq bigint
)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_current_xact_id();
  lane := case when _failures + _losses > 0 then internal.return_lane(_lane, _losses) else _lane end;
  seq := nextval('queues.task_id_seq');
  insert into queues.ready (lane, seq, task_id, failures, losses, held)
  values (show_ready.lane, show_ready.seq, _task_id, _failures, _losses, _held);
end;
$$;
