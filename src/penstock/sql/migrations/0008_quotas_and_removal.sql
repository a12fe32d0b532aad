-- Quotas of a tenant (null: what the settings say, 0: none), projects that can be deleted, sources that can be removed.
-- What is deleted keeps its row, because documents and ingestions point at it, and gives its name free.
alter table accounts.tenant
  add column max_documents bigint constraint max_documents_is_not_negative check (max_documents >= 0),
  add column max_stored_bytes bigint constraint max_stored_bytes_is_not_negative check (max_stored_bytes >= 0),
  add column max_keys bigint constraint max_keys_is_not_negative check (max_keys >= 0);
-- A quota is checked by counting, from this index alone.
create index document_live_idx on ingest.document (tenant_id) include (size_bytes) where deleted_at is null;

alter table accounts.project add column deleted_at timestamptz;
alter table accounts.project drop constraint project_named_once;
create unique index project_named_once on accounts.project (tenant_id, slug) where deleted_at is null;

alter table ingest.source add column removed_at timestamptz;
drop index ingest.one_webhook_source_a_tenant;
create unique index one_webhook_source_a_tenant on ingest.source (tenant_id) where kind = 'webhook' and removed_at is null;
