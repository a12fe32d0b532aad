-- Operations on everything that matches a filter, views saved by a team, and what lists of documents read.

create type ingest.operation_action as enum (
  'documents.retry', 'documents.reindex', 'documents.delete', 'tasks.cancel', 'tasks.run_now', 'dead.replay', 'dead.purge',
  'decisions.restore'
);
create type ingest.canary_state as enum ('running', 'watching', 'passed', 'failed');
create type ingest.item_outcome as enum ('done', 'skipped', 'failed');
create type ingest.operation_state as enum ('running', 'watching', 'done', 'stopped', 'failed');

-- One operation on everything that matched `filter` when it began. Its items are chosen once; `next_ordinal` is the first that has
-- not been treated, and moves in the transaction that treats it: each item is treated once, whatever happens to a worker.
-- `run` fences the worker that has it. Of internal.no_tenant(): an operator's, on tasks of all tenants. `batches`, `seconds_mean` and
-- `seconds_m2` are the measured seconds per item of each batch: their number, mean, and sum of squared differences from it.
create table ingest.operation (
  operation_id uuid primary key,
  tenant_id uuid not null,
  action ingest.operation_action not null,
  filter jsonb not null,
  state ingest.operation_state not null default 'running',
  expected_count bigint not null,
  total bigint,
  done bigint not null default 0,
  skipped bigint not null default 0,
  failed bigint not null default 0,
  reasons jsonb not null default '{}',
  canary_percent smallint constraint canary_is_a_part check (canary_percent between 1 and 50),
  canary_size bigint,
  canary_state ingest.canary_state,
  canary_succeeded bigint not null default 0,
  canary_failed bigint not null default 0,
  watched_since timestamptz,
  next_ordinal bigint not null default 0,
  run integer not null default 0,
  task_id bigint,
  batches integer not null default 0,
  seconds_mean double precision not null default 0,
  seconds_m2 double precision not null default 0,
  started_by text not null,
  started_at timestamptz not null,
  updated_at timestamptz not null,
  finished_at timestamptz,
  error text,
  constraint ended_has_a_time check ((state in ('running', 'watching')) = (finished_at is null))
);
create index operation_tenant_id_idx on ingest.operation (tenant_id, operation_id);
create index operation_open_idx on ingest.operation (updated_at) where finished_at is null;
create index operation_finished_at_idx on ingest.operation (finished_at) where finished_at is not null;

create table ingest.operation_item (
  operation_id uuid not null references ingest.operation on delete cascade,
  ordinal bigint not null,
  tenant_id uuid not null,
  item text not null,
  outcome ingest.item_outcome,
  reason text,
  constraint item_chosen_once primary key (operation_id, ordinal)
) with (fillfactor = 80);
create index operation_item_tenant_id_idx on ingest.operation_item (tenant_id);

-- A page's query string under a name. Of internal.no_tenant(): a view of the operators of the installation.
create table accounts.saved_view (
  view_id uuid primary key,
  tenant_id uuid not null,
  page text not null,
  name text not null,
  query text not null,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint view_named_once unique (tenant_id, page, name)
);

-- What lists of documents read, newest first, by each filter a page offers. A status is no index condition under row security
-- (its operator is not leakproof), so the rarer ones have an index each.
create index document_failed_list_idx on ingest.document (tenant_id, document_id)
where status = 'failed' and deleted_at is null;
create index document_skipped_list_idx on ingest.document (tenant_id, document_id)
where status = 'skipped' and deleted_at is null;
create index document_unsettled_list_idx on ingest.document (tenant_id, document_id)
where status in ('pending', 'processing', 'embedding') and deleted_at is null;
create index document_reason_code_idx on ingest.document (tenant_id, reason_code, document_id)
where reason_code is not null and deleted_at is null;
create index document_mime_type_idx on ingest.document (tenant_id, mime_type, document_id) where deleted_at is null;
create index document_updated_at_idx on ingest.document (tenant_id, updated_at, document_id) where deleted_at is null;
