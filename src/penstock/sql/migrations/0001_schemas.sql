-- The two schemas every part stands on, and the migrator's own ledger.

create schema internal authorization penstock_owner;
create schema queues authorization penstock_queue;

revoke all on schema internal, queues from public;

-- Functions made by the owners themselves are callable by nobody until granted; security/owners.sql sees to the rest.
alter default privileges for role penstock_owner, penstock_queue revoke execute on functions from public;

create table internal.migration (
  version integer primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default pg_catalog.clock_timestamp()
);

create table internal.applied_object (
  path text primary key,
  checksum text not null,
  applied_at timestamptz not null default pg_catalog.clock_timestamp()
);
