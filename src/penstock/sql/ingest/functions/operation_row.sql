-- An operation as callers see it, with its estimated end: what is left times the measured seconds per item, and the interval that
-- two standard errors give.
create or replace function ingest.operation_row(_operation ingest.operation)
returns jsonb
language sql
stable
as $$
  select jsonb_build_object(
    'operation_id', _operation.operation_id,
    'tenant', (select t.slug from accounts.tenant t where t.tenant_id = _operation.tenant_id),
    'action', _operation.action,
    'filter', _operation.filter,
    'state', _operation.state,
    'total', coalesce(_operation.total, _operation.expected_count),
    'done', _operation.done,
    'skipped', _operation.skipped,
    'failed', _operation.failed,
    'skipped_reasons', _operation.reasons -> 'skipped',
    'failed_reasons', _operation.reasons -> 'failed',
    'canary', case when _operation.canary_percent is not null then jsonb_build_object(
      'percent', _operation.canary_percent,
      'size', coalesce(_operation.canary_size, 0),
      'succeeded', _operation.canary_succeeded,
      'failed', _operation.canary_failed,
      'state', _operation.canary_state) end,
    'by', _operation.started_by,
    'started_at', _operation.started_at,
    'finished_at', _operation.finished_at,
    'error', _operation.error,
    'task_id', _operation.task_id,
    'eta_seconds', e.left_count * e.mean,
    'eta_low', e.left_count * greatest(e.mean / 2, e.mean - 2 * e.error),
    'eta_high', e.left_count * (e.mean + 2 * e.error))
  from (
    select _operation.total - _operation.next_ordinal as left_count,
      case when _operation.state = 'running' and _operation.batches > 1 then _operation.seconds_mean end as mean,
      sqrt(_operation.seconds_m2 / greatest(_operation.batches - 1, 1)) / sqrt(greatest(_operation.batches, 1)::float8)
        as error) e;
$$;
