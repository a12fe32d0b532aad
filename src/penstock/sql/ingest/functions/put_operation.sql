-- Starts an operation with its task, if the number the person saw is about the number there is. The filter of an operation that may
-- name a tenant loses nothing: it is kept as given. Runs with its caller's rights. Raises PS005, PS012, PS013, PS014 when the count
-- differs by more than a tenth; an approximate one may be up to twice the number the person saw, which then was approximate too.
create or replace function ingest.put_operation(
  _action text, _filter jsonb, _expected_count bigint, _canary_percent integer, _started_by text
)
returns uuid
language plpgsql
as $$
declare
  v_tenant_id uuid := internal.tenant_id();
  v_operation_id uuid := internal.uuid7();
  v_counted jsonb := ingest.count_targets(_action, _filter);
  v_count bigint := (v_counted ->> 'count')::bigint;
begin
  if _expected_count is null or _expected_count < 1 then
    raise exception using errcode = 'PS005', detail = 'expected_count',
      message = 'expected_count must be the number of items the preview named', hint = 'Ask for a preview first.';
  end if;
  if _canary_percent not between 1 and 50 then
    raise exception using errcode = 'PS005', detail = 'canary_percent',
      message = format('a canary of %s per cent is out of range', _canary_percent), hint = 'Use 1 to 50, or none.';
  end if;
  if abs(v_count - _expected_count) > greatest(_expected_count, v_count) * 0.1
    and not ((v_counted ->> 'approximate')::boolean and _expected_count > ingest.exact_up_to() and v_count <= 2 * _expected_count)
  then
    raise exception using errcode = 'PS014', detail = 'expected_count',
      message = format(case v_count when 1 then '%s item matches' else '%s items match' end || ' now, not %s', v_count, _expected_count),
      hint = format('Look at them again, then start with expected_count %s.', v_count);
  end if;
  insert into ingest.operation (
    operation_id, tenant_id, action, filter, expected_count, canary_percent, canary_state, started_by, started_at, updated_at)
  values (
    v_operation_id, coalesce(v_tenant_id, internal.no_tenant()), _action::ingest.operation_action, _filter, _expected_count, _canary_percent,
    case when _canary_percent is not null then 'running'::ingest.canary_state end, left(_started_by, 200), internal.clock(), internal.clock());
  update ingest.operation o set task_id = queues.enqueue(
    _task_type => 'operate', _payload => jsonb_build_object('operation_id', v_operation_id), _tenant_id => v_tenant_id,
    _unique_key => v_operation_id::text, _on_duplicate => 'coalesce')
  where o.operation_id = v_operation_id;
  return v_operation_id;
end;
$$;
