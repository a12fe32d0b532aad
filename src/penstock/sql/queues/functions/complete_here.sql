-- Closes one lease inside the caller's transaction, so that the caller's writes and the close commit together.
-- Raises PS006 when the lease is gone: the caller's transaction rolls back with it.
create or replace function queues.complete_here(_worker_id integer, _lease_id bigint, _task_id bigint default null)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(queues.complete(
    _worker_id, array[_lease_id], case when _task_id is not null then array[_task_id] end)) = 0 then
    raise exception using errcode = 'PS006', detail = 'lease_id',
      message = format('lease %s is no longer held by worker %s', _lease_id, _worker_id),
      hint = 'Write nothing more for this task: it was given to another worker, or cancelled.';
  end if;
end;
$$;
