-- Creates partitions ahead of the ids and starts a new one each day, so that history can be removed by dropping a
-- partition. Ids decide the partition, not time: nothing fails even if maintenance does not run for a year.
-- Once a day the sequence jumps to the start of the next partition; ids get gaps, their order holds. Creating one takes the
-- parent's exclusive lock for a moment; after half a second it is left for the next round.
create or replace function queues.roll_partitions(_parent text, _sequence regclass, _ahead integer default 3)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '500ms'
as $$
declare
  v_now timestamptz := internal.clock();
  v_last bigint;
  v_current queues.partition;
  v_next queues.partition;
  v_from bigint;
  v_width bigint := 100000000;
  v_child text;
  v_made integer := 0;
begin
  execute format('select s.last_value from %s s', _sequence) into v_last;
  select * into v_current
  from queues.partition p where p.parent = _parent and p.from_id <= v_last and p.to_id > v_last;
  update queues.partition p set opened_at = coalesce(p.opened_at, v_now) where p.child = v_current.child;
  update queues.partition p set closed_at = v_now
  where p.parent = _parent and p.to_id <= v_current.from_id and p.closed_at is null;

  while (
    select count(*) from queues.partition p where p.parent = _parent and p.from_id > v_current.from_id
  ) < _ahead loop
    select max(p.to_id) into v_from from queues.partition p where p.parent = _parent;
    v_child := format('%s_p%s', _parent, v_from / v_width);
    begin
      execute format(
        'create table queues.%I partition of queues.%I for values from (%s) to (%s)',
        v_child, _parent, v_from, v_from + v_width);
    exception when lock_not_available then
      exit;
    end;
    execute format('alter table queues.%I enable row level security', v_child);
    execute format('alter table queues.%I force row level security', v_child);
    execute format(
      'create policy queue_owner on queues.%I to penstock_queue using (true) with check (true)', v_child);
    insert into queues.partition (child, parent, from_id, to_id) values (v_child, _parent, v_from, v_from + v_width);
    v_made := v_made + 1;
  end loop;

  if v_current.opened_at < v_now - interval '1 day' and v_last > v_current.from_id + 1 then
    select * into v_next
    from queues.partition p where p.parent = _parent and p.from_id = v_current.to_id;
    if found then
      perform setval(_sequence, greatest(v_next.from_id, v_last), false);
      update queues.partition p set opened_at = v_now where p.child = v_next.child;
      update queues.partition p set closed_at = v_now where p.child = v_current.child;
    end if;
  end if;
  return v_made;
end;
$$;
