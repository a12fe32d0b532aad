-- Tenants, their projects, API keys, usage and kept replies. security/row_security.sql enables row security on every table
-- with a tenant_id, here and in the migrations that follow.

create type accounts.tenant_status as enum ('active', 'deleted');

create table accounts.tenant (
  tenant_id uuid primary key,
  slug text not null constraint tenant_named_once unique
    constraint slug_is_plain check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null,
  status accounts.tenant_status not null default 'active',
  max_upload_bytes bigint constraint max_upload_is_positive check (max_upload_bytes > 0),
  requests_per_minute integer constraint requests_are_positive check (requests_per_minute > 0),
  monthly_token_budget bigint constraint budget_is_not_negative check (monthly_token_budget >= 0),
  -- Quotas: null is what the settings say, 0 is no limit.
  max_documents bigint constraint max_documents_is_not_negative check (max_documents >= 0),
  max_stored_bytes bigint constraint max_stored_bytes_is_not_negative check (max_stored_bytes >= 0),
  max_keys bigint constraint max_keys_is_not_negative check (max_keys >= 0),
  webhook_url text,
  webhook_secret_id uuid,
  created_at timestamptz not null,
  deleted_at timestamptz
);

-- A deleted project keeps its row, because documents point at it, and frees its slug.
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
  deleted_at timestamptz
);
create unique index project_named_once on accounts.project (tenant_id, slug) where deleted_at is null;

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

-- Answers kept for requests that carry an idempotency key; no status means the first request is still running.
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
