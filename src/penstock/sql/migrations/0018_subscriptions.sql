-- Mail by push: subscriptions at the providers, and the people to tell when a source must be connected again.

-- Who is told when a person must do something, such as connecting a mailbox again.
alter table accounts.tenant add column contact_email text;

-- The mailbox's own address in lower case: Gmail's notifications name it, and nothing else.
alter table ingest.source add column address text;
update ingest.source s set address = lower(s.name) where s.kind = 'gmail' and s.name like '%_@_%';
create index source_address_idx on ingest.source (kind, address) where address is not null and removed_at is null;

-- What makes a provider notify us, from our request to its end. At most one of a source is live. The row is written before the
-- provider is asked, so that its first notification finds it; `created_at` is when the provider confirmed. Of the state that
-- comes back with each notification only the hash is kept. Ended ones stay for a while: what the provider still
-- sends for them is genuine, but stale. `last_notified_at` is exact to ten seconds.
create table ingest.subscription (
  subscription_id uuid primary key,
  source_id uuid not null references ingest.source,
  tenant_id uuid not null references accounts.tenant,
  client_state_sha256 bytea not null constraint client_state_is_sha256 check (length(client_state_sha256) = 32),
  provider_id text,
  details jsonb not null default '{}',
  requested_at timestamptz not null,
  created_at timestamptz,
  renewed_at timestamptz,
  renew_at timestamptz,
  expires_at timestamptz,
  last_notified_at timestamptz,
  failures integer not null default 0,
  error_code text,
  error_message text,
  next_try_at timestamptz,
  ended_at timestamptz,
  end_reason text constraint end_reason_is_known
  check (end_reason in ('abandoned', 'expired', 'lost', 'removed', 'dropped', 'disconnected', 'off')),
  constraint created_has_an_expiry check ((created_at is null) = (expires_at is null)),
  constraint ended_has_a_reason check ((ended_at is null) = (end_reason is null))
);
create unique index client_state_known_once on ingest.subscription (client_state_sha256);
create unique index one_live_subscription_a_source on ingest.subscription (source_id) where ended_at is null;
create index subscription_source_id_idx on ingest.subscription (source_id, requested_at);
create index subscription_tenant_id_idx on ingest.subscription (tenant_id);
create index subscription_ended_at_idx on ingest.subscription (ended_at) where ended_at is not null;

-- A source that a person must connect again, from when that was noticed until its next successful sync: one email each.
create table ingest.reconnect_incident (
  source_id uuid not null references ingest.source,
  opened_at timestamptz not null,
  tenant_id uuid not null references accounts.tenant,
  closed_at timestamptz,
  notified_at timestamptz,
  email_message_id bigint,
  constraint reconnect_incident_pkey primary key (source_id, opened_at)
);
create unique index one_open_incident_a_source on ingest.reconnect_incident (source_id) where closed_at is null;
create index reconnect_incident_tenant_id_idx on ingest.reconnect_incident (tenant_id);
create index source_error_idx on ingest.source (source_id) where status = 'error' and removed_at is null;
