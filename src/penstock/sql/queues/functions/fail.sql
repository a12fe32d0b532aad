-- Closes leases of a worker as failed, keeps the errors and decides what comes next: another attempt by the policy of the
-- task's type and error, or a dead letter. _retry_after overrides the policy's delay, _final says that a retry
-- cannot help. A lease that is already gone is reported as such, and nothing is written for it.
-- Locks: the leases, in order of their id.
create or replace function queues.fail(
  _worker_id integer,
  _lease_ids bigint[],
  _error_codes text[],
  _error_messages text[],
  _details jsonb[] default null,
  _retry_after double precision[] default null,
  _final boolean[] default null,
  _task_ids bigint[] default null
)
returns table (lease_id bigint, outcome text, retry_at timestamptz)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_n integer;
  v_lease queues.lease;
  v_type queues.task_type;
  v_code text;
  v_message text;
  v_attempts integer;
  v_delay double precision;
begin
  for v_n in select i.n from generate_subscripts(_lease_ids, 1) as i (n) order by _lease_ids[i.n] loop
    lease_id := _lease_ids[v_n];
    retry_at := null;
    delete from queues.lease l
    where l.worker_id = _worker_id and l.lease_id = _lease_ids[v_n]
      and (_task_ids is null or l.task_id = _task_ids[v_n])
    returning l.* into v_lease;
    if not found then
      outcome := 'gone';
      return next;
      continue;
    end if;

    v_code := coalesce(_error_codes[v_n], 'Error');
    v_message := coalesce(_error_messages[v_n], '');
    perform queues.note_attempt(v_lease, 'failed');
    perform queues.note_error(v_lease.task_id, v_lease, v_lease.failures + 1, v_code, v_message, _details[v_n]);

    if queues.end_if_cancelled(v_lease) then
      outcome := 'cancelled';
      return next;
      continue;
    end if;

    select t.max_attempts into v_attempts from queues.find_task(v_lease.task_id) t;
    select y.* into v_type
    from queues.find_task(v_lease.task_id) t join queues.task_type y on y.task_type = t.task_type;
    v_delay := queues.retry_delay(v_type, v_code, v_lease.failures + 1, v_attempts);
    if v_delay is not null and _retry_after[v_n] is not null then
      v_delay := greatest(0, _retry_after[v_n]);
    end if;
    if coalesce(_final[v_n], false) or v_delay is null then
      perform queues.bury(
        v_lease, v_lease.failures + 1, v_lease.losses,
        case when coalesce(_final[v_n], false)
            or coalesce(v_type.retry -> 'errors' -> v_code, v_type.retry -> 'default') ->> 'kind' = 'none'
          then 'not_retriable' else 'exhausted' end,
        v_code, v_message);
      outcome := 'dead';
    else
      retry_at := internal.clock() + make_interval(secs => v_delay);
      perform queues.return_task(v_lease, v_lease.failures + 1, v_lease.losses, retry_at);
      outcome := 'retry';
    end if;
    return next;
  end loop;
end;
$$;
