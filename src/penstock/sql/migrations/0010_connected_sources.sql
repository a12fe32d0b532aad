-- Connected sources: how far each stream was read, what the provider has, syncs and their counts.

-- A record of a connected source has no file: its text is in ingest.source_document.
alter table ingest.document alter column file_id drop not null;
alter table ingest.document add constraint content_is_a_file_or_a_record
check (file_id is not null or identity = 'item');

-- `account` is the provider's id of the connected account. `sync_every` null: only on request. `synced_at` is when the last
-- complete sync ended.
alter table ingest.source
add column account text,
add column sync_every interval,
add column next_sync_at timestamptz,
add column synced_at timestamptz;
create index source_next_sync_at_idx on ingest.source (next_sync_at) where next_sync_at is not null;
-- Connecting the same account again finds the same source.
create unique index one_source_an_account on ingest.source (tenant_id, kind, account)
where account is not null and removed_at is null;

-- A sync that is wanted: many requests, one sync. A request during a sync raises `seq`, and exactly one more sync follows.
create table ingest.pending_sync (
  source_id uuid primary key references ingest.source,
  tenant_id uuid not null references accounts.tenant,
  seq bigint not null default 1,
  is_full boolean not null,
  reason text not null,
  requested_at timestamptz not null
);
create index pending_sync_tenant_id_idx on ingest.pending_sync (tenant_id);

-- How far each stream was read. `cursor` is the provider's and opaque; `is_resumed` says that it is from the middle of a pass.
-- `pass` counts passes; items that the present one has not seen yet have a smaller number and are removed when it ends, if it
-- was a full one (`is_full`). `job_id` is the sync that began the pass, `completed_job_id` the last sync that read it to the end.
create table ingest.source_stream (
  source_id uuid not null references ingest.source,
  stream text not null,
  tenant_id uuid not null references accounts.tenant,
  cursor jsonb,
  is_full boolean not null default true,
  is_resumed boolean not null default false,
  pass integer not null default 1,
  job_id uuid,
  completed_job_id uuid,
  expected bigint,
  left_out bigint not null default 0,
  completed_at timestamptz,
  updated_at timestamptz not null,
  constraint source_stream_pkey primary key (source_id, stream)
);
create index source_stream_tenant_id_idx on ingest.source_stream (tenant_id);

create type ingest.job_status as enum ('running', 'waiting', 'completed', 'failed', 'cancelled');

-- One sync of a source, with its counts. `waiting`: `error_message` says for what, `next_try_at` until when.
-- `error_details` holds the last failures of single items. `run` fences: a worker that lost the sync to another writes nothing.
create table ingest.ingestion_job (
  job_id uuid primary key,
  tenant_id uuid not null references accounts.tenant,
  source_id uuid not null references ingest.source,
  kind text not null constraint kind_is_full_or_delta check (kind in ('full_sync', 'delta_sync')),
  reason text not null,
  status ingest.job_status not null,
  run integer not null default 1,
  pending_seq bigint not null,
  task_id bigint,
  items_expected bigint,
  items_seen bigint not null default 0,
  items_written bigint not null default 0,
  items_unchanged bigint not null default 0,
  items_failed bigint not null default 0,
  items_removed bigint not null default 0,
  items_left_out bigint not null default 0,
  texts_embedded bigint not null default 0,
  error_code text,
  error_message text,
  error_details jsonb not null default '[]',
  next_try_at timestamptz,
  started_at timestamptz not null,
  updated_at timestamptz not null,
  finished_at timestamptz,
  constraint job_finished_has_a_time
  check ((status in ('completed', 'failed', 'cancelled')) = (finished_at is not null))
);
create index ingestion_job_source_id_idx on ingest.ingestion_job (source_id, job_id);
create index ingestion_job_tenant_id_idx on ingest.ingestion_job (tenant_id);
create unique index one_open_job_a_source on ingest.ingestion_job (source_id) where finished_at is null;

-- What the provider has of one item, as it was last read. `document_id` is the document made of it; null for a record without
-- text. No foreign keys: it is written by the thousand.
create table ingest.source_document (
  source_id uuid not null,
  external_id text not null,
  tenant_id uuid not null,
  stream text not null,
  document_type text not null,
  document_id uuid,
  version text,
  raw_payload jsonb not null,
  payload_sha256 bytea not null,
  text text,
  embedding_model text,
  embedding_text_sha256 bytea,
  map_version integer not null default 0,
  pass integer not null,
  source_created_at timestamptz,
  source_updated_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint source_document_pkey primary key (source_id, external_id)
);
create index source_document_pass_idx on ingest.source_document (source_id, stream, pass);
create index source_document_document_id_idx on ingest.source_document (document_id) where document_id is not null;
create index source_document_tenant_id_idx on ingest.source_document (tenant_id);
create index source_document_embedding_text_sha256_idx on ingest.source_document (embedding_text_sha256)
where embedding_text_sha256 is not null;
create index source_document_map_idx on ingest.source_document (source_id, document_type, map_version);

-- A record on its way through ingest.put_items().
create type ingest.record_to_index as (
  document_id uuid,
  generation integer,
  n integer,
  external_id text,
  text text,
  tokens integer,
  sha256 bytea,
  is_new boolean,
  is_direct boolean,
  is_same boolean,
  status ingest.document_status
);
