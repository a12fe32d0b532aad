-- What was not kept and why: decisions of the rules for mail (stage 1) and of the classifier (stage 2).

-- `name` is the rule or the class. `external_id` is the item, `message_id` the mailbox's own id of its mail, by which it is
-- fetched again. `reversed_at`: a person restored it; `outcome` is then 'restored', or why it could not be, and null until that
-- is known. `verdict` is 'drop', except for documents that the classifier kept.
create table ingest.decision (
  decision_id uuid primary key,
  tenant_id uuid not null references accounts.tenant,
  source_id uuid references ingest.source,
  external_id text,
  message_id text,
  document_id uuid references ingest.document,
  stage smallint not null
  constraint stage_is_known check (stage in (1, 2)),
  verdict text not null
  constraint verdict_is_known check (verdict in ('drop', 'keep', 'ask')),
  name text not null,
  skip_reason text,
  score double precision,
  reasons jsonb not null default '[]',
  sender text,
  subject text,
  filename text,
  version text not null,
  decided_at timestamptz not null,
  reversed_at timestamptz,
  reversed_by text,
  outcome text,
  outcome_message text,
  constraint drop_has_a_reason check (verdict <> 'drop' or skip_reason is not null),
  constraint decides_about_an_item_or_a_document
  check (case stage when 1 then source_id is not null and external_id is not null else document_id is not null end)
);
create index decision_tenant_id_idx on ingest.decision (tenant_id, decision_id);
create index decision_source_id_idx on ingest.decision (source_id, decided_at);
create index decision_document_id_idx on ingest.decision (document_id) where document_id is not null;
create unique index one_decision_an_item on ingest.decision (source_id, external_id) where stage = 1;
create unique index one_decision_a_document on ingest.decision (document_id) where stage = 2;
create index decision_reversed_idx on ingest.decision (source_id, sender) where reversed_at is not null;

-- By these the rules find earlier mails: pictures that a sender repeats, and conversations with a document. Both are hashes, made
-- where the items are.
create index source_document_repeat_key_idx on ingest.source_document (source_id, (raw_payload ->> 'repeat_key'))
where stream = 'mail' and raw_payload ? 'repeat_key';
create index source_document_thread_key_idx on ingest.source_document (source_id, (raw_payload ->> 'thread_key'))
where stream = 'mail' and document_id is not null;
