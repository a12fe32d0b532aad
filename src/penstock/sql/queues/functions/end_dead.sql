-- Removes the dead letters of a task type whose payload has this value under this key: what they were about has succeeded
-- since. Each leaves an audit row. Returns how many. Locks: those letters, skipping those that are being replayed.
create or replace function queues.end_dead(_task_type text, _key text, _value text, _tenant_id uuid default null)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  with ended as (
    delete from queues.dead_letter x
    where x.task_id = any (array(
      select d.task_id from queues.dead_letter d
      where d.task_type = _task_type and d.tenant_id is not distinct from _tenant_id and d.payload ->> _key = _value
      order by d.task_id
      for update skip locked))
    returning x.*
  ), noted as (
    insert into queues.audit (at, actor, action, subject, detail)
    select internal.clock(), session_user, 'end_dead', e.task_id::text,
      jsonb_build_object('reason', e.reason, 'fingerprint', e.fingerprint)
    from ended e
  )
  select count(*) into v_count from ended;
  return v_count;
end;
$$;
