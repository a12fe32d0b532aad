-- Enqueues a task for each open shard of a run that has none, and for those of the first 50 whose task has ended without closing
-- them; returns how many. A shard whose task died is left alone, unless `_anew`: its dead letter says why.
-- Locks: the run's row, then shards'. Raises PS012, PS013.
create or replace function ingest.enqueue_shards(_run_id uuid, _anew boolean default false)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run ingest.bulk_run := ingest.hold_bulk(_run_id);
  v_shard record;
  v_count integer := 0;
begin
  if v_run.finished_at is not null then
    return 0;
  end if;
  for v_shard in
    select s.shard, s.task_id from ingest.bulk_shard s
    where s.run_id = _run_id and s.closed_at is null and (s.task_id is null or _anew or s.shard <= (
      -- Tasks are run in order, so that one that is missing comes to be among the first.
      select max(f.shard) from (
        select o.shard from ingest.bulk_shard o where o.run_id = _run_id and o.closed_at is null order by o.shard limit 50) f))
    order by s.shard
  loop
    if v_shard.task_id is null or not queues.is_open(v_shard.task_id)
      and (_anew or queues.task_state(v_shard.task_id) is distinct from 'dead')
    then
      update ingest.bulk_shard s set task_id = queues.enqueue(
        _task_type => 'reindex-shard',
        _payload => jsonb_build_object('run_id', _run_id, 'shard', v_shard.shard),
        _tenant_id => v_run.tenant_id,
        _unique_key => _run_id::text || '/' || v_shard.shard,
        _on_duplicate => 'coalesce')
      where s.run_id = _run_id and s.shard = v_shard.shard;
      v_count := v_count + 1;
    end if;
  end loop;
  return v_count;
end;
$$;
