-- What the console looks at: samples of queues and stages, versions of workers, schemas of payloads, and the indexes that
-- let a page of any list be read without reading the rest.

-- One row per queue and minute, and one more per tenant that had something in the queue. Depths are those at the time of
-- sampling, null for a minute nobody sampled in time. The arrays count durations by internal.bucket().
create table queues.sample (
  queue_id smallint not null,
  tenant_id uuid,
  minute timestamptz not null,
  ready bigint,
  running bigint,
  waiting bigint,
  dead bigint,
  done bigint not null default 0,
  failed bigint not null default 0,
  waited bigint[] not null default '{}',
  ran bigint[] not null default '{}',
  constraint sampled_once unique nulls not distinct (tenant_id, queue_id, minute)
);
create index sample_minute_idx on queues.sample (minute);
alter table queues.sample enable row level security;
alter table queues.sample force row level security;
create policy queue_owner on queues.sample to penstock_queue using (true) with check (true);

alter table queues.worker add column versions jsonb not null default '{}';
alter table queues.task_type add column payload_schema jsonb;
alter table queues.queue add column paused_by text;

create index attempt_closed_at_idx on queues.attempt using brin (closed_at) with (pages_per_range = 32, autosummarize = on);
create index waiting_tenant_id_idx on queues.waiting (tenant_id, queue_id, due_at, seq) where tenant_id is not null;
drop index queues.parked_queue_id_idx;
create index parked_queue_id_idx on queues.parked (queue_id, seq);
drop index queues.dead_letter_fingerprint_idx;
create index dead_letter_fingerprint_idx on queues.dead_letter (fingerprint, died_at, task_id);
drop index queues.dead_letter_tenant_id_idx;
create index dead_letter_tenant_id_idx on queues.dead_letter (tenant_id, fingerprint, died_at, task_id);
create index dead_letter_tenant_died_at_idx on queues.dead_letter (tenant_id, died_at, task_id);
create index dead_letter_queue_id_idx on queues.dead_letter (queue_id, died_at, task_id);

-- How many documents of a tenant left a stage in a minute, and how long they were in it (by internal.bucket()).
create table ingest.stage_sample (
  tenant_id uuid not null references accounts.tenant,
  stage text not null,
  minute timestamptz not null,
  done bigint not null,
  failed bigint not null,
  took bigint[] not null default '{}',
  constraint stage_sample_pkey primary key (tenant_id, stage, minute)
);
create index stage_sample_minute_idx on ingest.stage_sample (minute);

create index document_event_at_idx on ingest.document_event using brin (at) with (pages_per_range = 32, autosummarize = on);
create index document_status_idx on ingest.document (status, tenant_id, updated_at) where deleted_at is null;

-- Groups failures whose messages differ only in ids, numbers and names, as dead letters have it.
alter table ingest.document add column fingerprint text;
-- As internal.fingerprint('document', reason_code, error_message) has it, which a new database does not have yet.
update ingest.document d set fingerprint = substr(encode(sha256(convert_to(
  'document' || chr(31) || coalesce(d.reason_code, '') || chr(31) || regexp_replace(
    split_part(left(coalesce(d.error_message, ''), 2000), E'\n', 1),
    '"[^"]*"|''[^'']*''|0x[0-9a-fA-F]+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|[0-9a-fA-F]{16,}|[0-9]+', '#', 'g'),
  'UTF8')), 'hex'), 1, 12)
where d.status = 'failed' and d.deleted_at is null;
create index document_fingerprint_idx on ingest.document (fingerprint, updated_at, document_id)
where status = 'failed' and deleted_at is null;
create index document_tenant_fingerprint_idx on ingest.document (tenant_id, fingerprint, updated_at, document_id)
where status = 'failed' and deleted_at is null;
