-- About how many pending tasks of a type there are in a state (ready, running, waiting, parked), from some 4,000 tasks on pages chosen at
-- random, the same ones while nothing changes: a type is often found in one queue only, so the first tasks of a list say little about
-- the others. _tenant_id and _sees_all: as queues.count_state().
create or replace function queues.sample_tasks(
  _state text, _queue_id smallint, _task_type text, _sees_all boolean, _tenant_id uuid
)
returns bigint
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_in_state bigint := queues.estimate(_state, null, null);
  v_looked bigint;
  v_matched bigint;
begin
  execute format(
    'select count(*), count(*) filter (where t.task_type = %L and (%L or t.tenant_id is not distinct from %L)
       and (%L::smallint is null or t.queue_id = %4$L::smallint))
     from (select s.task_id from queues.%I s tablesample system (%s) repeatable (0) where s.task_id is not null limit 8000) s
     cross join lateral (
       select n.task_type, n.tenant_id, n.queue_id from queues.task n where n.task_id = s.task_id
       union all
       select k.task_type, k.tenant_id, k.queue_id from queues.task_kept k where k.task_id = s.task_id
       limit 1
     ) t',
    _task_type, _sees_all, _tenant_id, _queue_id, case _state when 'running' then 'lease' else _state end,
    least(100, 400000.0 / v_in_state))
  into v_looked, v_matched;
  return v_matched * v_in_state / greatest(v_looked, 1);
end;
$$;
