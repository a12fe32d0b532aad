-- What items of connected sources state about clients. Rollups into ingest.client_intelligence are made of these rows alone, so
-- that a redelivery, a replay or another order of items gives the same result.

-- One statement of one item (`external_id`) about one client of the same source, known by (item, name). No foreign keys: it is
-- written by the thousand.
create table ingest.client_fact (
  source_id uuid not null,
  external_id text not null,
  name text not null,
  tenant_id uuid not null,
  client_external_id text not null,
  rollup text not null
  constraint rollup_is_known check (rollup in ('latest', 'list', 'sum', 'key')),
  keep integer
  constraint keep_is_positive check (keep > 0),
  value jsonb not null,
  as_of timestamptz,
  constraint client_fact_pkey primary key (source_id, external_id, name)
);
create index client_fact_client_idx on ingest.client_fact (source_id, client_external_id, name, as_of);
create index client_fact_tenant_id_idx on ingest.client_fact (tenant_id);
