-- The lanes of a queue that have a visible ready row, with the first ticket of each: a loose index scan, one probe per lane.
-- Known lanes are probed from their mark, and the gaps between them from their start, so that entries which a pinned
-- horizon keeps dead are not read again (_known and _marks are sorted by lane).
create or replace function queues.find_lanes(
  _queue_id smallint,
  _known bigint[] default '{}',
  _marks bigint[] default '{}'
)
returns table (lane bigint, seq bigint)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_from bigint := internal.first_lane(_queue_id) - 1;
  v_until bigint;
  v_end bigint := internal.first_lane(_queue_id + 1);
  v_n integer := 1;
begin
  loop
    v_until := coalesce(_known[v_n], v_end);
    loop
      select r.lane, r.seq into find_lanes.lane, find_lanes.seq
      from queues.ready r
      where r.lane > v_from and r.lane < v_until
      order by r.lane, r.seq limit 1;
      exit when not found;
      return next;
      v_from := find_lanes.lane;
    end loop;
    exit when v_until = v_end;
    select r.lane, r.seq into find_lanes.lane, find_lanes.seq
    from queues.ready r
    where r.lane = v_until and r.seq >= _marks[v_n]
    order by r.lane, r.seq limit 1;
    if found then
      return next;
    end if;
    v_from := v_until;
    v_n := v_n + 1;
  end loop;
end;
$$;
