-- Tenants and what they own: projects, keys, sources, documents, ingestions, their timeline, files and secrets.
-- Row security on all of it is switched on by security/row_security.sql, from the catalogue.

create schema accounts authorization penstock_owner;
create schema files authorization penstock_owner;
create schema ingest authorization penstock_owner;
create schema vault authorization penstock_owner;
-- The few functions that see every tenant; their owner is bound by policies of its own, not by the tenant's.
create schema keeping authorization penstock_keeper;

revoke all on schema accounts, files, ingest, vault, keeping from public;
alter default privileges for role penstock_keeper revoke execute on functions from public;

create type accounts.tenant_status as enum ('active', 'deleted');

create type ingest.document_status as enum (
  'pending', 'processing', 'embedding', 'indexed', 'skipped', 'failed', 'deleted'
);

create type ingest.ingestion_status as enum (
  'queued', 'processing', 'indexed', 'unchanged', 'skipped', 'failed'
);

create type ingest.source_kind as enum (
  'webhook', 'outlook', 'gmail', 'hubspot', 'google_drive', 'quickbooks'
);

create type ingest.source_status as enum (
  'active', 'paused', 'error', 'token_refresh_failed', 'subscription_expired', 'provider_error'
);

create table accounts.tenant (
  tenant_id uuid primary key,
  slug text not null constraint tenant_named_once unique
    constraint slug_is_plain check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null,
  status accounts.tenant_status not null default 'active',
  max_upload_bytes bigint constraint max_upload_is_positive check (max_upload_bytes > 0),
  requests_per_minute integer constraint requests_are_positive check (requests_per_minute > 0),
  monthly_token_budget bigint constraint budget_is_not_negative check (monthly_token_budget >= 0),
  webhook_url text,
  webhook_secret_id uuid,
  created_at timestamptz not null,
  deleted_at timestamptz
);

create table accounts.project (
  project_id uuid primary key,
  tenant_id uuid not null references accounts.tenant,
  slug text not null
    constraint slug_is_plain check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null,
  embedder text not null,
  next_embedder text,
  text_config text not null default 'english',
  chunk_strategy text not null default 'structure',
  chunk_tokens integer constraint chunk_tokens_is_sensible check (chunk_tokens between 16 and 8192),
  chunk_overlap integer constraint chunk_overlap_is_sensible check (chunk_overlap between 0 and 4096),
  created_at timestamptz not null,
  constraint project_named_once unique (tenant_id, slug)
);

create table accounts.api_key (
  key_id uuid primary key,
  tenant_id uuid not null references accounts.tenant,
  name text not null,
  prefix text not null,
  key_sha256 bytea not null constraint key_known_once unique,
  scopes text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  used_at timestamptz
);
create index api_key_tenant_id_idx on accounts.api_key (tenant_id);

-- What embedding cost a tenant, by day and model; calls saved are texts that were reused.
create table accounts.usage (
  tenant_id uuid not null references accounts.tenant,
  day date not null,
  model text not null,
  tokens bigint not null,
  calls bigint not null,
  texts bigint not null,
  reused bigint not null,
  constraint usage_pkey primary key (tenant_id, day, model)
);

-- Answers kept for requests that carry an idempotency key; no status means the first one is still at work.
create table accounts.kept_reply (
  tenant_id uuid not null references accounts.tenant,
  key_sha256 bytea not null,
  request_sha256 bytea not null,
  status integer,
  body jsonb,
  created_at timestamptz not null,
  constraint kept_reply_pkey primary key (tenant_id, key_sha256)
);
create index kept_reply_created_at_idx on accounts.kept_reply (created_at);

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

create table ingest.source (
  source_id uuid primary key,
  tenant_id uuid not null references accounts.tenant,
  project_id uuid not null references accounts.project,
  kind ingest.source_kind not null,
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
  updated_at timestamptz not null
);
create index source_tenant_id_idx on ingest.source (tenant_id, kind);
create index source_project_id_idx on ingest.source (project_id);
create unique index one_webhook_source_a_tenant on ingest.source (tenant_id) where kind = 'webhook';

-- Deliveries already taken, by a key made of what was signed; a second one of the same is a replay.
create table ingest.webhook_seen (
  tenant_id uuid not null references accounts.tenant,
  source_id uuid not null references ingest.source,
  replay_key bytea not null,
  seen_at timestamptz not null,
  constraint webhook_seen_pkey primary key (source_id, replay_key)
);
create index webhook_seen_seen_at_idx on ingest.webhook_seen (seen_at);
create index webhook_seen_tenant_id_idx on ingest.webhook_seen (tenant_id);

create table ingest.document (
  document_id uuid primary key,
  tenant_id uuid not null references accounts.tenant,
  project_id uuid not null references accounts.project,
  source_id uuid references ingest.source,
  external_id text,
  identity text not null default 'content'
    constraint identity_is_content_or_item check (identity in ('content', 'item')),
  parent_document_id uuid references ingest.document,
  content_sha256 bytea not null constraint hash_is_sha256 check (length(content_sha256) = 32),
  size_bytes bigint not null,
  mime_type text not null,
  filename text,
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
  task_id bigint,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  constraint deleted_has_a_time check ((status = 'deleted') = (deleted_at is not null)),
  constraint deleted_is_not_live check (status <> 'deleted' or live_generation = 0)
);
-- Identity of an upload is its content; of a connected source's item, what the source calls it.
create unique index content_known_once on ingest.document (tenant_id, project_id, content_sha256)
where identity = 'content' and deleted_at is null;
create unique index item_known_once on ingest.document (source_id, external_id)
where identity = 'item' and deleted_at is null;
create unique index external_id_known_once on ingest.document (tenant_id, project_id, external_id)
where identity = 'content' and external_id is not null and deleted_at is null;
create index document_project_id_idx on ingest.document (project_id, document_id);
create index document_tenant_id_idx on ingest.document (tenant_id, document_id);
create index document_parent_document_id_idx on ingest.document (parent_document_id)
where parent_document_id is not null;
create index document_source_id_idx on ingest.document (source_id) where source_id is not null;
create index document_unsettled_idx on ingest.document (updated_at)
where status in ('pending', 'processing', 'embedding');

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
