-- The lanes a task's ready row can be in: its own, the return lane, the suspects' lane.
create or replace function internal.task_lanes(_queue_id smallint, _priority integer, _tenant_id uuid)
returns bigint[]
language sql
immutable
parallel safe
as $$
  select array[
    internal.lane(_queue_id, _priority + 1, _tenant_id),
    internal.lane(_queue_id, internal.return_class(), _tenant_id),
    internal.lane(_queue_id, internal.suspect_class(), _tenant_id)];
$$;
