-- What the tenant's completion webhook sends about an ingestion, and where to; null when the tenant no longer has a webhook.
-- Raises PS012.
create or replace function ingest.delivery_of(_ingestion_id uuid)
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'url', t.webhook_url,
    'secret_id', t.webhook_secret_id,
    'body', jsonb_build_object(
      'type', 'ingestion.' || i.status,
      'timestamp', i.finished_at,
      'data', jsonb_build_object(
        'ingestion_id', i.ingestion_id, 'document_id', i.document_id, 'project_id', d.project_id,
        'status', i.status, 'skip_reason', i.skip_reason, 'error_code', i.error_code,
        'error_message', i.error_message, 'external_id', d.external_id, 'title', d.title,
        'chunk_count', d.chunk_count, 'source_metadata', i.source_metadata)))
  from ingest.ingestion i
  join ingest.document d on d.document_id = i.document_id
  join accounts.tenant t on t.tenant_id = i.tenant_id
  where i.tenant_id = internal.require_tenant() and i.ingestion_id = _ingestion_id and t.webhook_url is not null;
$$;
