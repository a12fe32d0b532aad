-- What a worker needs every 250 ms to move its marks: the lanes with their first visible ticket, the newest
-- ticket, and the bounds of the snapshot. A ticket read now is safe to skip to once snapshot_min has reached
-- the snapshot_max of this probe: every writer that could still show an older ticket has ended by then.
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
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  select s.last_value + 1 into newest from queues.task_id_seq s;
  snapshot_min := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
  snapshot_max := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
  select q.max_running is not null or q.rate_count is not null, f.lanes, f.tickets into limited, lanes, tickets
  from queues.queue q
  cross join lateral (
    select array_agg(l.lane) as lanes, array_agg(l.seq) as tickets
    from queues.find_lanes(q.queue_id, _known, _marks) l
  ) f
  where q.queue_name = _queue;
end;
$$;
