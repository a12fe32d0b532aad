-- A source as callers see it.
create or replace function ingest.source_row(_source ingest.source)
returns jsonb
language sql
stable
as $$
  select jsonb_build_object(
    'source_id', _source.source_id, 'kind', _source.kind, 'name', _source.name,
    'project', (select p.slug from accounts.project p where p.project_id = _source.project_id),
    'status', _source.status, 'status_message', _source.status_message, 'account', _source.account,
    'health', ingest.source_health(_source),
    'sync_every_seconds', extract(epoch from _source.sync_every)::bigint, 'next_sync_at', _source.next_sync_at,
    'synced_at', _source.synced_at, 'created_at', _source.created_at, 'updated_at', _source.updated_at);
$$;
