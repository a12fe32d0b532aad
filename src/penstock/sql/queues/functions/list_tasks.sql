-- Tasks in one state (running, ready, waiting, parked, dead, or an outcome): pending ones in the order in which they run or are
-- due, ended ones newest first (among the last million that ended). `_after` is the place of the last row of the previous
-- page. Raises PS005.
create or replace function queues.list_tasks(
  _state text default 'running', _queue text default null, _task_type text default null, _limit integer default 50,
  _after text default null, _tenant_id uuid default null
)
returns table (
  task_id bigint, task_type text, queue text, state text, attempt integer, enqueued_at timestamptz, at timestamptz,
  worker_id integer, tenant_id uuid, place text
)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select p.task_id, p.task_type, p.queue, p.state, p.attempt, p.enqueued_at, p.at, p.worker_id, p.tenant_id, p.place
  from queues.page_tasks(_state, _queue, _task_type, _tenant_id, _after, _limit, 1000000) p
  where p.task_id is not null;
$$;
