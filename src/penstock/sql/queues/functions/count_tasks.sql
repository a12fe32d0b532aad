-- How many tasks a filter of page_tasks() matches: exactly up to 10,000, estimated above. With a task type, which no index finds, it
-- is estimated where there are more than 10,000 of any type: by a sample of pending tasks, by the first 4,000 of others. Raises PS005.
create or replace function queues.count_tasks(
  _state text default 'running', _queue text default null, _task_type text default null, _tenant_id uuid default null,
  out total bigint, out approximate boolean
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended boolean := _state not in ('running', 'ready', 'waiting', 'parked', 'dead');
  v_tenant_id uuid := case when internal.sees_all() then _tenant_id else internal.tenant_id() end;
  v_queue_id smallint := (select q.queue_id from queues.queue q where q.queue_name = _queue);
  v_lowest bigint;
begin
  if _queue is not null and v_queue_id is null then
    total := 0;
    approximate := false;
    return;
  end if;
  if _task_type is not null and _state in ('running', 'ready', 'waiting', 'parked') then
    approximate := queues.count_state(_state, v_queue_id, internal.sees_all() and _tenant_id is null, v_tenant_id) > 10000;
    if approximate then
      total := queues.sample_tasks(_state, v_queue_id, _task_type, internal.sees_all() and _tenant_id is null, v_tenant_id);
    else
      select count(p.task_id) into total
      from queues.page_tasks(_state, _queue, _task_type, _tenant_id, null, 10000, 10001) p;
    end if;
    return;
  elsif _task_type is not null or (v_ended and _queue is not null) then
    select count(p.task_id), bool_or(p.task_id is null), min(case when v_ended then p.place::bigint end)
    into total, approximate, v_lowest
    from queues.page_tasks(_state, _queue, _task_type, _tenant_id, null, 4000, 4000) p;
  elsif not v_ended then
    total := queues.count_state(_state, v_queue_id, internal.sees_all() and _tenant_id is null, v_tenant_id);
  else
    select count(s.task_id), bool_or(s.task_id is null), min(case when v_ended then s.place::bigint end)
    into total, approximate, v_lowest
    from queues.scan_tasks(
      _state, null, internal.sees_all() and _tenant_id is null, v_tenant_id, null, 10001, 30000) s;
  end if;
  approximate := total > 10000 or coalesce(approximate, false) or (_task_type is not null and total >= 4000);
  if not approximate then
    return;
  end if;
  -- The same share of the rest as of those that were looked at.
  if v_ended then
    select total * (l.last_value - k.first_id) / greatest(l.last_value - v_lowest, 1) into total
    from queues.lease_id_seq l,
      (select coalesce(min(p.from_id), 0) as first_id from queues.partition p where p.parent = 'attempt') k;
  elsif total > 10000 then
    total := queues.estimate(_state, v_queue_id, v_tenant_id);
  else
    total := total * queues.estimate(_state, v_queue_id, v_tenant_id) / 4000;
  end if;
end;
$$;
