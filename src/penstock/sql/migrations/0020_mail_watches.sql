-- Mailboxes whose server is waited on (IMAP's IDLE): which worker holds the connection of which source.

-- Workers that wait on mail servers, until they are counted as gone.
create table internal.mail_watcher (
  watcher_id uuid primary key,
  seen_until timestamptz not null
);

-- One worker waits on a source until `held_until`, which it extends.
create table ingest.mail_watch (
  source_id uuid primary key references ingest.source,
  tenant_id uuid not null references accounts.tenant,
  watcher_id uuid not null,
  held_until timestamptz not null
);
create index mail_watch_tenant_id_idx on ingest.mail_watch (tenant_id);
create index mail_watch_watcher_id_idx on ingest.mail_watch (watcher_id);
