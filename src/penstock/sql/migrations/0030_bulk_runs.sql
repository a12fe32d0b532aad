-- Bulk re-indexing: a run over a project's documents, divided into shards that any engine may work on.

create type ingest.bulk_engine as enum ('queue', 'ray');
create type ingest.bulk_state as enum ('planning', 'running', 'done', 'stopped', 'failed');
create type ingest.bulk_outcome as enum ('begun', 'staged', 'failed', 'newer', 'gone');

-- One re-index of one project. `settings` is what its documents are indexed with, apart from the code's version: settings that
-- change during the run cause another pass. `planned_to` is the last document that has a shard. With `switches` the embedder
-- replaces the project's own when every document is staged. `reason` says why it waits or why it ended, `waits_until` until when.
create table ingest.bulk_run (
  run_id uuid primary key,
  tenant_id uuid not null references accounts.tenant,
  project_id uuid not null references accounts.project,
  embedder text not null,
  switches boolean not null,
  settings text not null,
  engine ingest.bulk_engine not null,
  state ingest.bulk_state not null default 'planning',
  shard_documents integer not null constraint shard_has_documents check (shard_documents > 0),
  shard_bytes bigint not null constraint shard_has_bytes check (shard_bytes > 0),
  pass integer not null default 1,
  planned_to uuid,
  next_shard integer not null default 0,
  task_id bigint,
  reason text,
  waits_until timestamptz,
  started_by text not null,
  started_at timestamptz not null,
  updated_at timestamptz not null,
  finished_at timestamptz,
  constraint ended_has_a_time check ((state in ('planning', 'running')) = (finished_at is null))
);
create index bulk_run_tenant_id_idx on ingest.bulk_run (tenant_id, run_id);
create unique index one_open_run_a_project on ingest.bulk_run (project_id) where finished_at is null;
create index bulk_run_open_idx on ingest.bulk_run (updated_at) where finished_at is null;
create index bulk_run_finished_at_idx on ingest.bulk_run (finished_at) where finished_at is not null;

-- A range of document ids. `token` fences its holder: each claim raises it, and only the newest may close the shard, once. The
-- counts are written by the close.
create table ingest.bulk_shard (
  run_id uuid not null references ingest.bulk_run on delete cascade,
  shard integer not null,
  tenant_id uuid not null,
  first_id uuid not null,
  last_id uuid not null,
  documents integer not null,
  token integer not null default 0,
  holder text,
  claimed_at timestamptz,
  lease_until timestamptz,
  closed_at timestamptz,
  task_id bigint,
  indexed integer not null default 0,
  newer integer not null default 0,
  gone integer not null default 0,
  failed integer not null default 0,
  chunks bigint not null default 0,
  embedded bigint not null default 0,
  reused bigint not null default 0,
  embedded_tokens bigint not null default 0,
  constraint bulk_shard_pkey primary key (run_id, shard)
) with (fillfactor = 80);
create index bulk_shard_open_idx on ingest.bulk_shard (run_id, shard) where closed_at is null;
create index bulk_shard_tenant_id_idx on ingest.bulk_shard (tenant_id);

-- What a shard has done with each of its documents so far. The close reads these rows and deletes all but the failed ones, which
-- say why until the run is forgotten. `attempts` counts how often the document was begun: one that ends its worker each time
-- fails after three.
create table ingest.bulk_document (
  run_id uuid not null,
  shard integer not null,
  document_id uuid not null,
  tenant_id uuid not null,
  outcome ingest.bulk_outcome not null,
  attempts smallint not null default 1,
  generation integer,
  content_sha256 bytea,
  pipeline text,
  facts jsonb,
  reason_code text,
  message text,
  constraint bulk_document_pkey primary key (run_id, shard, document_id),
  constraint document_is_of_a_shard foreign key (run_id, shard) references ingest.bulk_shard on delete cascade
) with (fillfactor = 80);
create index bulk_document_tenant_id_idx on ingest.bulk_document (tenant_id);

-- The content that was staged: a document that changed since is staged again before its project switches.
alter table ingest.document add column staged_sha256 bytea;
