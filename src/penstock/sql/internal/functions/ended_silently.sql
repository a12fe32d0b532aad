-- Whether an attempt's task has ended although no handler recorded how: its dead letter was purged, or its error handler's
-- own task died. A handler that is still running has half a minute.
create or replace function internal.ended_silently(_task_id bigint, _attempted_at timestamptz)
returns boolean
language sql
stable
as $$
  select _attempted_at < internal.clock() - interval '30 seconds'
    and coalesce(queues.task_state(_task_id), 'gone') not in ('ready', 'waiting', 'parked', 'running');
$$;
