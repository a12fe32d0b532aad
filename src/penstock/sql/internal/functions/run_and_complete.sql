-- Runs a business function for the tenant of a lease and closes the lease, all in one statement: a supervisor's run is one
-- round trip. A handler must succeed, a supervisor may return any status. Security invoker, like internal.run_function().
-- Raises PS005 in a transaction of another tenant, PS006, PS018, PS019, and whatever the function raises; then nothing is
-- written.
create or replace function internal.run_and_complete(
  _tenant_id uuid,
  _worker_id integer,
  _lease_id bigint,
  _task_id bigint,
  _function_name text,
  _payload jsonb,
  _must_succeed boolean
)
returns jsonb
language plpgsql
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_answer jsonb;
begin
  if nullif(current_setting('penstock.tenant_id', true), '') <> _tenant_id::text then
    raise exception using errcode = 'PS005', detail = 'tenant_id',
      message = format('this transaction does not belong to tenant %s', _tenant_id),
      hint = 'Run it in a transaction of its own, or in one of that tenant.';
  end if;
  perform set_config('penstock.tenant_id', _tenant_id::text, true);
  if not _must_succeed then
    -- A server crash that loses a supervisor's run loses its close too, so it runs again. Outcomes wait for the disk.
    perform set_config('synchronous_commit', 'off', true);
  end if;
  v_answer := internal.run_function(_function_name, _payload);
  if not internal.succeeded(v_answer) and _must_succeed then
    raise exception using errcode = 'PS019', detail = 'answer',
      message = format('%s did not succeed: %s', _function_name, coalesce(
        v_answer ->> 'validation_failure_message', v_answer ->> 'error', v_answer ->> 'status')),
      hint = format('Fix %s.', _function_name);
  end if;
  perform queues.complete_here(_worker_id, _lease_id, _task_id);
  return v_answer;
end;
$$;
