-- Enqueues the task that creates, renews or drops a source's subscription at its provider: one live task per source.
create or replace function ingest.enqueue_subscription(_source_id uuid)
returns bigint
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  select queues.enqueue(
    _task_type => 'subscribe-source',
    _payload => jsonb_build_object('source_id', _source_id),
    _tenant_id => internal.require_tenant(),
    _unique_key => _source_id::text,
    _on_duplicate => 'coalesce');
$$;
