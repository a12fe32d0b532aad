-- Who is signed in to the console, the links that sign somebody in, what everybody changed, and who follows changes. Rows of a tenant are in
-- accounts; those of people who operate the whole installation belong to no tenant and are in internal.

create type accounts.role as enum ('viewer', 'operator', 'admin');
create type accounts.credential as enum ('key', 'session');

-- A session that was started with a key ends with the key.
create table accounts.session (
  session_id uuid primary key,
  tenant_id uuid not null references accounts.tenant,
  token_sha256 bytea not null constraint session_known_once unique,
  key_id uuid references accounts.api_key on delete cascade,
  name text not null,
  role accounts.role not null,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index session_tenant_id_idx on accounts.session (tenant_id);
create index session_key_id_idx on accounts.session (key_id);
create index session_expires_at_idx on accounts.session (expires_at);

create table accounts.login_link (
  token_sha256 bytea primary key,
  tenant_id uuid not null references accounts.tenant,
  name text not null,
  role accounts.role not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index login_link_tenant_id_idx on accounts.login_link (tenant_id);

-- A row is written before the request is carried out; no status means that it never ended.
create table accounts.audit_entry (
  audit_id uuid primary key,
  tenant_id uuid not null references accounts.tenant,
  at timestamptz not null,
  who text not null,
  role accounts.role not null,
  via accounts.credential not null,
  action text not null,
  target text,
  status integer,
  detail jsonb not null,
  request_id text not null
);
create index audit_entry_tenant_id_idx on accounts.audit_entry (tenant_id, audit_id);
create index audit_entry_at_idx on accounts.audit_entry (at);

create table internal.operator_session (
  session_id uuid primary key,
  token_sha256 bytea not null constraint operator_session_known_once unique,
  name text not null,
  role accounts.role not null,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);

create table internal.operator_link (
  token_sha256 bytea primary key,
  name text not null,
  role accounts.role not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);

create table internal.operator_audit (
  audit_id uuid primary key,
  at timestamptz not null,
  who text not null,
  role accounts.role not null,
  via accounts.credential not null,
  action text not null,
  target text,
  status integer,
  detail jsonb not null,
  request_id text not null
);
create index operator_audit_at_idx on internal.operator_audit (at);

-- API processes in which somebody follows changes on a page: functions send NOTIFY about changes only while one is here.
create table internal.watcher (
  watcher_id uuid primary key,
  seen_until timestamptz not null
);
