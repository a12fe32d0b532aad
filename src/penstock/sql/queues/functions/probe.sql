-- What a worker needs every 250 ms to move its marks: the lanes with their first visible ticket, the newest
-- ticket, and two transaction ids. A ticket read now is safe to skip to once snapshot_min of a later probe has
-- reached snapshot_max of this one: every writer that could still show an older ticket has ended by then.
-- So snapshot_max must be above the id of every writer that may have drawn one of these tickets. It is an id of our
-- own, drawn after the tickets were read; the upper bound of a snapshot would not do, because that is the newest
-- *ended* transaction plus one, and a quiet system's only producer may be that one. For the same reason it is
-- volatile: the caller's snapshot is older than the tickets.
-- A limited queue may have room whenever one of its tasks ends.
create or replace function queues.probe(
  _queue text,
  _known bigint[] default '{}',
  _marks bigint[] default '{}',
  out lanes bigint[],
  out tickets bigint[],
  out newest bigint,
  out snapshot_min bigint,
  out snapshot_max bigint,
  out limited boolean
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  select s.last_value + s.is_called::integer into newest from queues.task_id_seq s;
  snapshot_min := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
  select q.max_running is not null or q.rate_count is not null, f.lanes, f.tickets into limited, lanes, tickets
  from queues.queue q
  cross join lateral (
    select array_agg(l.lane) as lanes, array_agg(l.seq) as tickets
    from queues.find_lanes(q.queue_id, _known, _marks) l
  ) f
  where q.queue_name = _queue;
  snapshot_max := pg_current_xact_id()::text::bigint;
end;
$$;
