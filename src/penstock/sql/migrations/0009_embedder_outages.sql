-- Since when an embedder has not answered. All workers share it, so that one of them at a time tries again while the
-- others wait. A row is deleted when the embedder answers.
create table internal.embedder_outage (
  embedder text primary key,
  since timestamptz not null,
  failed_at timestamptz not null,
  retry_at timestamptz not null,
  failures integer not null,
  reason text not null
);

-- The model a document is indexed with while its project's own is unavailable; null: the project's own.
alter table ingest.document add column fallback_embedder text;
create index document_fallback_idx on ingest.document (tenant_id, project_id, fallback_embedder)
where fallback_embedder is not null and deleted_at is null;

-- Failed documents by their reason, for doctor and for retrying them all.
create index document_failed_idx on ingest.document (tenant_id, reason_code)
where status = 'failed' and deleted_at is null;
