-- Whether an attempt's task is over although no handler said how it ended: its dead letter was purged, or its error
-- handler's own task died. Half a minute is left to a handler that is on its way.
create or replace function internal.ended_silently(_task_id bigint, _attempted_at timestamptz)
returns boolean
language sql
stable
as $$
  select _attempted_at < internal.clock() - interval '30 seconds'
    and coalesce(queues.task_state(_task_id), 'gone') not in ('ready', 'waiting', 'parked', 'running');
$$;
