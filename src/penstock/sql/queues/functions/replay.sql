-- Runs dead letters that match the filter again, with all their attempts, from the return lane, and returns their ids.
-- Taking them is a delete, skip locked: two operators who replay at once run each task once.
-- The task's own row may have gone with its partition: then the copy goes to task_kept. A row is in task or in task_kept,
-- never in both, and claim relies on that; reading task here also keeps its partition from being dropped meanwhile.
create or replace function queues.replay(
  _task_ids bigint[] default null,
  _task_type text default null,
  _fingerprint text default null,
  _error_code text default null,
  _reason text default null,
  _tenant_id uuid default null,
  _died_before timestamptz default null,
  _limit integer default 10000
)
returns bigint[]
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids bigint[];
  v_queue_id smallint;
begin
  perform pg_current_xact_id();
  with taken as (
    delete from queues.dead_letter x
    where x.task_id = any (array(
      select d.task_id
      from queues.dead_letter d
      where d.task_id = any (array(select queues.find_dead(
        _task_ids, _task_type, _fingerprint, _error_code, _reason, _tenant_id, _died_before)))
      order by d.died_at, d.task_id
      limit _limit
      for update skip locked))
    returning x.*
  ), kept as (
    insert into queues.task_kept (
      task_id, task_type, payload, enqueued_at, scheduled_at, queue_id, priority, tenant_id, unique_key,
      on_duplicate, limit_key, time_limit, max_attempts, kept_at)
    select t.task_id, t.task_type, t.payload, t.enqueued_at, t.scheduled_at, t.queue_id, t.priority, t.tenant_id,
      t.unique_key, t.on_duplicate, t.limit_key, t.time_limit, t.max_attempts, internal.clock()
    from taken t
    where not exists (select from queues.task o where o.task_id = t.task_id)
    -- A copy kept earlier gets a new time, so that a maintain() running now does not delete it.
    on conflict (task_id) do update set kept_at = excluded.kept_at
  ), shown as (
    insert into queues.ready (lane, seq, task_id, failures, losses, held)
    select internal.lane(t.queue_id, internal.return_class(), t.tenant_id), nextval('queues.task_id_seq'), t.task_id, 0, 0, 0
    from taken t where t.unique_key is null and t.limit_key is null
  ), keyed as (
    insert into queues.waiting (queue_id, due_at, seq, task_id, lane, failures, losses, held, keyed, tenant_id)
    select t.queue_id, internal.clock(), nextval('queues.task_id_seq'), t.task_id,
      internal.lane(t.queue_id, internal.return_class(), t.tenant_id), 0, 0, 0, true, t.tenant_id
    from taken t where t.unique_key is not null or t.limit_key is not null
  ), noted as (
    insert into queues.audit (at, actor, action, subject, detail)
    select internal.clock(), session_user, 'replay', t.task_id::text,
      jsonb_build_object('reason', t.reason, 'fingerprint', t.fingerprint, 'errors', t.errors)
    from taken t
  )
  select array_agg(t.task_id) into v_ids from taken t;

  for v_queue_id in
    select distinct t.queue_id from unnest(v_ids) as i (task_id) cross join lateral queues.find_task(i.task_id) t
  loop
    perform queues.wake(v_queue_id);
  end loop;
  return coalesce(v_ids, '{}');
end;
$$;
