-- Asks for a subscription of a source that was just connected. Returns the task; null if there is no such source, or a person
-- must do something first. Raises PS012.
create or replace function ingest.request_subscription(_source_id uuid)
returns bigint
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  select ingest.enqueue_subscription(s.source_id) from ingest.source s
  where s.tenant_id = internal.require_tenant() and s.source_id = _source_id and s.removed_at is null
    and s.status not in ('paused', 'error');
$$;
