-- The schemas, and the ledgers of the migrator: what it has applied of Penstock's own SQL, and of folders that users bring.
-- security/roles.sql has made the roles before.

create schema internal authorization penstock_owner;
create schema queues authorization penstock_queue;
create schema accounts authorization penstock_owner;
create schema vault authorization penstock_owner;
create schema files authorization penstock_owner;
create schema ingest authorization penstock_owner;
create schema search authorization penstock_owner;
create schema comms authorization penstock_owner;
create schema api authorization penstock_owner;
-- The few functions that see every tenant: policies of its own bind their owner, not those of a tenant.
create schema all_tenants authorization penstock_all_tenants;

revoke all on schema internal, queues, accounts, vault, files, ingest, search, comms, api, all_tenants from public;

-- Functions made by the owners themselves can be called by nobody until granted; security/owners.sql does the same for
-- functions made by another role.
alter default privileges for role penstock_owner, penstock_queue, penstock_all_tenants
  revoke execute on functions from public;

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

-- SQL that users bring in folders of their own: a ledger for each folder, named after the first schema it creates, and
-- which schema belongs to which folder.
create table internal.own_migration (
  folder text not null,
  version integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default pg_catalog.clock_timestamp(),
  constraint own_migration_pkey primary key (folder, version)
);

create table internal.own_object (
  folder text not null,
  path text not null,
  checksum text not null,
  applied_at timestamptz not null default pg_catalog.clock_timestamp(),
  constraint own_object_pkey primary key (folder, path)
);

create table internal.own_schema (
  schema_name text primary key,
  folder text not null
);
