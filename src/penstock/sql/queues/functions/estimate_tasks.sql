-- About how many tasks of each state match a filter of an operation, as the list of tasks counts them. _tenant_id: only of this tenant.
-- For the functions of operations. Raises PS005.
create or replace function queues.estimate_tasks(_filter jsonb, _tenant_id uuid)
returns table (state text, total bigint)
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  select s.state, c.total
  from unnest(coalesce(string_to_array(nullif(_filter ->> 'state', ''), ','), array['ready', 'waiting', 'parked', 'running'])) as s (state)
  cross join lateral queues.count_tasks(s.state, _filter ->> 'queue', _filter ->> 'task_type', _tenant_id) c;
$$;
