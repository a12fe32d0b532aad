-- Enqueues a run of a source's sync: one live task per source; a request during a run causes exactly one more run.
create or replace function ingest.enqueue_sync(_source_id uuid)
returns bigint
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  select queues.enqueue(
    _task_type => 'sync-source',
    _payload => jsonb_build_object('source_id', _source_id),
    _tenant_id => internal.require_tenant(),
    _unique_key => _source_id::text,
    _on_duplicate => 'coalesce');
$$;
