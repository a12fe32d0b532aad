-- Secrets, sources, documents, files, ingestions and their timeline, and what is known of clients.

create type ingest.document_status as enum (
  'pending', 'processing', 'embedding', 'indexed', 'skipped', 'failed', 'deleted'
);

create type ingest.ingestion_status as enum (
  'queued', 'processing', 'indexed', 'unchanged', 'skipped', 'failed'
);

create type ingest.source_status as enum (
  'active', 'paused', 'error', 'token_refresh_failed', 'subscription_expired', 'provider_error'
);

create table vault.secret (
  secret_id uuid primary key,
  tenant_id uuid not null references accounts.tenant,
  name text not null,
  ciphertext bytea not null,
  nonce bytea not null,
  wrapped_key bytea not null,
  key_nonce bytea not null,
  key_id text not null,
  created_at timestamptz not null
);
create index secret_tenant_id_idx on vault.secret (tenant_id);

-- What a source can be. internal/rows/source_kind.sql has the rows, one per provider. `identity` is what a document from
-- such a source is known by under an external id: the id within the project ('external'), or within the source ('item').
create table internal.source_kind (
  kind text primary key constraint kind_is_plain check (kind ~ '^[a-z][a-z0-9_]{0,62}$'),
  title text not null,
  identity text not null constraint identity_is_external_or_item check (identity in ('external', 'item'))
);

-- A removed source keeps its row, because documents and ingestions point at it.
create table ingest.source (
  source_id uuid primary key,
  tenant_id uuid not null references accounts.tenant,
  project_id uuid not null references accounts.project,
  kind text not null references internal.source_kind,
  name text not null,
  config jsonb not null default '{}',
  metadata jsonb not null default '{}',
  secret_ids uuid[] not null default '{}',
  status ingest.source_status not null default 'active',
  status_message text,
  access_token_vault_id uuid,
  refresh_token_vault_id uuid,
  token_expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  removed_at timestamptz
);
create index source_tenant_id_idx on ingest.source (tenant_id, kind);
create index source_project_id_idx on ingest.source (project_id);
create index source_kind_idx on ingest.source (kind);
create unique index one_webhook_source_a_tenant on ingest.source (tenant_id) where kind = 'webhook' and removed_at is null;

-- Deliveries already received, by a key made of what was signed: the same key again is a replay.
create table ingest.webhook_seen (
  tenant_id uuid not null references accounts.tenant,
  source_id uuid not null references ingest.source,
  replay_key bytea not null,
  seen_at timestamptz not null,
  constraint webhook_seen_pkey primary key (source_id, replay_key)
);
create index webhook_seen_seen_at_idx on ingest.webhook_seen (seen_at);
create index webhook_seen_tenant_id_idx on ingest.webhook_seen (tenant_id);

-- The identity of a document is its external id, within the project ('external') or within a connected source ('item');
-- without one it is the content. `path` is where a file came from, so that two files of one name can be told apart.
-- `fallback_embedder` is the model it is indexed with while its project's own is unavailable; null: the project's own.
create table ingest.document (
  document_id uuid primary key,
  tenant_id uuid not null references accounts.tenant,
  project_id uuid not null references accounts.project,
  source_id uuid references ingest.source,
  external_id text,
  identity text not null default 'content'
    constraint identity_is_content_external_or_item check (identity in ('content', 'external', 'item')),
  parent_document_id uuid references ingest.document,
  content_sha256 bytea not null constraint hash_is_sha256 check (length(content_sha256) = 32),
  size_bytes bigint not null,
  mime_type text not null,
  filename text,
  path text,
  file_id uuid not null,
  status ingest.document_status not null,
  reason_code text,
  error_message text,
  title text,
  author text,
  language text,
  document_created_at timestamptz,
  document_modified_at timestamptz,
  page_count integer,
  parser text,
  warnings text[] not null default '{}',
  metadata jsonb not null default '{}',
  pipeline_config jsonb,
  live_generation integer not null default 0,
  next_generation integer not null default 1,
  staged_generation integer,
  staged_pipeline text,
  staged_chunks integer,
  staged_tokens bigint,
  chunk_count integer not null default 0,
  token_count bigint not null default 0,
  indexed_at timestamptz,
  indexed_sha256 bytea,
  indexed_pipeline text,
  fallback_embedder text,
  task_id bigint,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  constraint deleted_has_a_time check ((status = 'deleted') = (deleted_at is not null)),
  constraint deleted_is_not_live check (status <> 'deleted' or live_generation = 0)
);
create unique index content_known_once on ingest.document (tenant_id, project_id, content_sha256)
where identity = 'content' and deleted_at is null;
create unique index item_known_once on ingest.document (source_id, external_id)
where identity = 'item' and deleted_at is null;
create unique index external_id_known_once on ingest.document (tenant_id, project_id, external_id)
where identity = 'external' and deleted_at is null;
create index document_project_id_idx on ingest.document (project_id, document_id);
create index document_tenant_id_idx on ingest.document (tenant_id, document_id);
create index document_parent_document_id_idx on ingest.document (parent_document_id)
where parent_document_id is not null;
create index document_source_id_idx on ingest.document (source_id) where source_id is not null;
create index document_unsettled_idx on ingest.document (updated_at)
where status in ('pending', 'processing', 'embedding');
-- Quotas are checked by counting from this index alone.
create index document_live_idx on ingest.document (tenant_id) include (size_bytes) where deleted_at is null;
create index document_fallback_idx on ingest.document (tenant_id, project_id, fallback_embedder)
where fallback_embedder is not null and deleted_at is null;
-- Failed documents by their reason, for doctor and for retrying them all.
create index document_failed_idx on ingest.document (tenant_id, reason_code)
where status = 'failed' and deleted_at is null;

create table files.file (
  file_id uuid primary key,
  tenant_id uuid not null references accounts.tenant,
  document_id uuid not null references ingest.document deferrable initially deferred,
  blob_path text not null constraint blob_belongs_to_one_file unique,
  content_sha256 bytea not null,
  size_bytes bigint not null,
  mime_type text not null,
  stored_at timestamptz not null,
  deleted_at timestamptz
);
create index file_document_id_idx on files.file (document_id);
create index file_tenant_id_idx on files.file (tenant_id);
alter table ingest.document add constraint document_has_a_file
foreign key (file_id) references files.file deferrable initially deferred;
create index document_file_id_idx on ingest.document (file_id);

-- Blobs that are about to be written, recorded first. The transaction that inserts the file deletes the row; a row that
-- stays was left by an upload that never committed, and its blob is the only kind that maintenance may remove. `origin` is
-- the database that recorded it: a copy of this table elsewhere allows nothing.
create table files.blob_intent (
  file_id uuid primary key,
  tenant_id uuid not null references accounts.tenant,
  blob_path text not null constraint path_intended_once unique,
  origin text not null,
  created_at timestamptz not null,
  abandoned_at timestamptz
);
create index blob_intent_created_at_idx on files.blob_intent (created_at);
create index blob_intent_tenant_id_idx on files.blob_intent (tenant_id);

create table ingest.ingestion (
  ingestion_id uuid primary key,
  tenant_id uuid not null references accounts.tenant,
  document_id uuid not null references ingest.document,
  source_id uuid references ingest.source,
  uploaded_by text,
  source_metadata jsonb not null default '{}',
  status ingest.ingestion_status not null,
  skip_reason text,
  error_code text,
  error_message text,
  created boolean not null,
  created_at timestamptz not null,
  finished_at timestamptz,
  constraint source_is_exactly_one check (num_nonnulls(source_id, uploaded_by) = 1),
  constraint finished_has_a_time check ((status in ('queued', 'processing')) = (finished_at is null)),
  constraint skip_has_a_reason check ((status = 'skipped') = (skip_reason is not null))
);
create index ingestion_document_id_idx on ingest.ingestion (document_id, ingestion_id);
create index ingestion_tenant_id_idx on ingest.ingestion (tenant_id, ingestion_id);
create index ingestion_source_id_idx on ingest.ingestion (source_id) where source_id is not null;
create index ingestion_open_idx on ingest.ingestion (document_id) where finished_at is null;

create table ingest.document_event (
  event_id bigint generated always as identity primary key,
  tenant_id uuid not null references accounts.tenant,
  document_id uuid not null references ingest.document,
  ingestion_id uuid,
  at timestamptz not null,
  event text not null,
  from_status ingest.document_status,
  to_status ingest.document_status,
  reason_code text,
  message text,
  detail jsonb not null default '{}'
);
create index document_event_document_id_idx on ingest.document_event (document_id, event_id);
create index document_event_tenant_id_idx on ingest.document_event (tenant_id);

-- Facts about one client rolled up from sources; rows without a source are a person's and never touched.
create table ingest.client_intelligence (
  client_id uuid primary key,
  tenant_id uuid not null references accounts.tenant,
  project_id uuid not null references accounts.project,
  source_id uuid references ingest.source,
  external_id text,
  client_name text not null,
  industry text,
  summary text,
  key_facts jsonb not null default '{}',
  embedding bytea,
  embedding_model text,
  embedding_text_sha256 bytea,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index client_known_once on ingest.client_intelligence (source_id, external_id)
where source_id is not null and external_id is not null;
create index client_intelligence_tenant_id_idx on ingest.client_intelligence (tenant_id);
create index client_intelligence_project_id_idx on ingest.client_intelligence (project_id);
