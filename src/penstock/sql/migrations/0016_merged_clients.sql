-- Rows of ingest.client_intelligence that are about one client, kept together in groups: rows that share a key (a domain, an
-- email domain, a normalised name) or that a person joined.

-- Rows that changed since they were grouped; written with the row, deleted when it is grouped.
create table ingest.client_change (
  client_id uuid primary key,
  tenant_id uuid not null,
  changed_at timestamptz not null
);
create index client_change_tenant_id_idx on ingest.client_change (tenant_id, client_id);

-- What a row is recognised by: 'domain:acme.com', 'name:acme', 'join:ID'. Rows with a common key are in one group.
create table ingest.client_key (
  client_id uuid not null,
  key text not null,
  tenant_id uuid not null,
  origin text not null
  constraint origin_is_known check (origin in ('domain', 'email_domain', 'name', 'person')),
  constraint client_key_pkey primary key (client_id, key)
);
create index client_key_key_idx on ingest.client_key (tenant_id, key);

create table ingest.client_member (
  client_id uuid primary key,
  tenant_id uuid not null,
  group_id uuid not null
);
create index client_member_group_id_idx on ingest.client_member (tenant_id, group_id);

-- One client as people see it. `client_name` and `industry` are what most of its rows say.
create table ingest.client_group (
  group_id uuid primary key,
  tenant_id uuid not null,
  client_name text not null,
  name_key text not null,
  industry text,
  record_count integer not null,
  updated_at timestamptz not null
);
create index client_group_name_idx on ingest.client_group (tenant_id, name_key, group_id);

-- What a person decided; it holds over later syncs, because a row keeps its id when it goes and comes back.
create table ingest.client_join (
  join_id uuid primary key,
  tenant_id uuid not null,
  client_id uuid not null,
  other_id uuid not null,
  decided_by text,
  decided_at timestamptz not null
);
create index client_join_client_id_idx on ingest.client_join (client_id);
create index client_join_other_id_idx on ingest.client_join (other_id);
create index client_join_tenant_id_idx on ingest.client_join (tenant_id);

-- A row that stands apart is grouped only with rows a person joined it with.
create table ingest.client_apart (
  client_id uuid primary key,
  tenant_id uuid not null,
  decided_by text,
  decided_at timestamptz not null
);
create index client_apart_tenant_id_idx on ingest.client_apart (tenant_id);

insert into ingest.client_change (client_id, tenant_id, changed_at)
select c.client_id, c.tenant_id, c.updated_at from ingest.client_intelligence c;
