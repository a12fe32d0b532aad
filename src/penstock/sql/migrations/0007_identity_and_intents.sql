-- Identity: an upload with an external id is known by that id alone; content decides only for uploads without one.
-- The path is where a file came from, so that two files of one name can be told apart.
alter table ingest.document no force row level security;
alter table ingest.document drop constraint identity_is_content_or_item;
drop index ingest.external_id_known_once;
update ingest.document d set identity = 'external' where d.identity = 'content' and d.external_id is not null;
alter table ingest.document force row level security;
alter table ingest.document add constraint identity_is_content_external_or_item
check (identity in ('content', 'external', 'item'));
create unique index external_id_known_once on ingest.document (tenant_id, project_id, external_id)
where identity = 'external' and deleted_at is null;

alter table ingest.document add column path text;

-- Blobs that are about to be written, recorded before they are. A row goes in the transaction that inserts the file; one
-- that stays was left by an upload that never committed, and its blob is what maintenance may remove, and nothing else.
-- `origin` is the database that recorded it: a copy of this table elsewhere allows nothing.
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
