-- Connecting a source at its provider, and revoking its tokens when it is disconnected.

-- One attempt of a person to connect a source. The state that goes to the provider and comes back is stored as a hash; it is
-- valid once and for minutes. `verifier_secret_id` is PKCE's verifier in the vault. `progress_sha256` is the hash of the
-- address of the page that shows how it went.
create table ingest.connect_attempt (
  state_sha256 bytea primary key constraint state_is_sha256 check (length(state_sha256) = 32),
  tenant_id uuid not null references accounts.tenant,
  project_id uuid not null references accounts.project,
  kind text not null references internal.source_kind,
  requested_by text not null,
  redirect_uri text not null,
  verifier_secret_id uuid,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  finished_at timestamptz,
  progress_sha256 bytea constraint progress_known_once unique,
  source_id uuid references ingest.source,
  error_code text,
  constraint finished_was_used check (finished_at is null or used_at is not null),
  constraint finished_with_a_result check ((finished_at is null) = (num_nonnulls(source_id, error_code) = 0)),
  constraint one_result check (num_nonnulls(source_id, error_code) <= 1)
);
create index connect_attempt_tenant_id_idx on ingest.connect_attempt (tenant_id);
create index connect_attempt_project_id_idx on ingest.connect_attempt (project_id);
create index connect_attempt_source_id_idx on ingest.connect_attempt (source_id) where source_id is not null;
create index connect_attempt_expires_at_idx on ingest.connect_attempt (expires_at);

-- The tokens of a disconnected source, to be revoked at the provider by a task. `outcome` says how that ended.
create table ingest.revocation (
  source_id uuid primary key references ingest.source,
  tenant_id uuid not null references accounts.tenant,
  task_id bigint not null,
  requested_at timestamptz not null,
  ended_at timestamptz,
  outcome text constraint outcome_is_known check (outcome in ('revoked', 'not_needed', 'unsupported', 'failed')),
  error_code text,
  constraint ended_has_an_outcome check ((ended_at is null) = (outcome is null))
);
create index revocation_tenant_id_idx on ingest.revocation (tenant_id);
