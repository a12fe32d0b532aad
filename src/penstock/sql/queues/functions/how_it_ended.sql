-- Whether a task ended well (good) or badly (bad); null while it has not ended. For the functions of operations, for any tenant.
create or replace function queues.how_it_ended(_task_id bigint)
returns text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select case
    when exists (select from queues.dead_letter d where d.task_id = _task_id) then 'bad'
    when exists (select from queues.lease l where l.task_id = _task_id)
      or exists (select from queues.waiting w where w.task_id = _task_id)
      or exists (select from queues.parked p where p.task_id = _task_id) then null
    else (
      select case
        when a.outcome in ('completed', 'skipped', 'merged', 'replaced') then 'good'
        when a.outcome = 'cancelled' then 'bad' end
      from queues.attempt a where a.task_id = _task_id order by a.closed_at desc, a.attempt_id desc limit 1)
  end;
$$;
