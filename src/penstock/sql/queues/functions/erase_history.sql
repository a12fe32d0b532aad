-- Deletes everything the queue keeps about a stopped tenant: tasks, attempts, errors, dead letters, cancels. Tasks of the
-- spared queue stay, because they hold only ids, and so do their attempts; their errors go, because those may hold more.
-- Then has Postgres sample the tables again: its statistics keep values it saw. Only internal.erase_tenant() calls it;
-- everything else leaves history to retention. Raises PS011 while the tenant is not stopped or has an open lease.
-- Locks: the rows it deletes, then the tables against vacuum and other samples.
create or replace function queues.erase_history(_tenant_id uuid)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spared smallint;
  v_spared_tasks bigint[];
  v_tasks integer;
  v_kept integer;
  v_attempts integer;
  v_errors integer;
  v_dead integer;
begin
  select s.spared_queue_id into v_spared from queues.stopped_tenant s where s.tenant_id = _tenant_id;
  if not found then
    raise exception using errcode = 'PS011', detail = 'tenant_id',
      message = format('tenant %s is not stopped', _tenant_id), hint = 'Stop its lanes first: queues.stop_tenant().';
  end if;
  perform queues.empty_lanes(_tenant_id, v_spared);
  if exists (
    select from queues.lease l
    where l.tenant_id = _tenant_id and internal.lane_queue(l.lane) is distinct from v_spared)
  then
    raise exception using errcode = 'PS011', detail = 'tenant_id',
      message = format('tasks of tenant %s are running', _tenant_id), hint = 'Wait until queues.stop_tenant() returns 0.';
  end if;

  select coalesce(array_agg(t.task_id), '{}') into v_spared_tasks
  from queues.task t where t.tenant_id = _tenant_id and t.queue_id = v_spared;
  delete from queues.cancel c
  using (
    select t.task_id, t.queue_id from queues.task t where t.tenant_id = _tenant_id
    union all
    select k.task_id, k.queue_id from queues.task_kept k where k.tenant_id = _tenant_id
  ) own
  where own.task_id = c.task_id and own.queue_id is distinct from v_spared;
  delete from queues.dead_letter d where d.tenant_id = _tenant_id;
  get diagnostics v_dead = row_count;
  delete from queues.sample s where s.tenant_id = _tenant_id;
  -- Its inlets go, too; a message that comes again is refused, because its tenant is stopped.
  delete from queues.taken k where k.tenant_id = _tenant_id;
  delete from queues.inlet_refusal r where r.tenant_id = _tenant_id;
  delete from queues.inlet_count c using queues.inlet i where i.inlet_id = c.inlet_id and i.tenant_id = _tenant_id;
  delete from queues.inlet_hold h using queues.inlet i where i.inlet_id = h.inlet_id and i.tenant_id = _tenant_id;
  delete from queues.inlet i where i.tenant_id = _tenant_id;
  delete from queues.error e where e.tenant_id = _tenant_id;
  get diagnostics v_errors = row_count;
  delete from queues.attempt a where a.tenant_id = _tenant_id and a.task_id <> all (v_spared_tasks);
  get diagnostics v_attempts = row_count;
  delete from queues.task_kept k where k.tenant_id = _tenant_id and k.queue_id is distinct from v_spared;
  get diagnostics v_kept = row_count;
  delete from queues.task t where t.tenant_id = _tenant_id and t.queue_id is distinct from v_spared;
  get diagnostics v_tasks = row_count;
  perform internal.sample_anew(
    array['queues.task', 'queues.task_kept', 'queues.dead_letter', 'queues.error', 'queues.cancel']::regclass[]);
  return jsonb_build_object(
    'tasks', v_tasks + v_kept, 'attempts', v_attempts, 'errors', v_errors, 'dead_letters', v_dead);
end;
$$;
