-- Ciphertexts of secrets that are kept in AWS's Parameter Store instead of the database. Every parameter that may exist there has a
-- row here, written before the parameter, until it was deleted there. `origin` is the database that wrote it, as in
-- files.blob_intent: a restored copy must not delete what the original database still needs.
create table vault.parameter (
  secret_id uuid primary key,
  tenant_id uuid not null references accounts.tenant,
  parameter_name text not null,
  origin text not null,
  created_at timestamptz not null,
  doomed_at timestamptz,
  attempts integer not null default 0,
  next_attempt_at timestamptz,
  error_code text,
  removed_at timestamptz
);
create index parameter_tenant_id_idx on vault.parameter (tenant_id);
create index parameter_not_removed_idx on vault.parameter (next_attempt_at) where removed_at is null and doomed_at is not null;
create index parameter_created_at_idx on vault.parameter (created_at) where removed_at is null and doomed_at is null;

alter table vault.secret
  alter column ciphertext drop not null,
  add column parameter_name text,
  add constraint ciphertext_is_here_or_there check ((ciphertext is null) <> (parameter_name is null));
create index secret_orphaned_parameter_idx on vault.secret (orphaned_at)
where orphaned_at is not null and parameter_name is not null;
