-- The index: chunks of every generation, what text search reads, cached embeddings, and what is to be swept.
-- No foreign keys on what is written by the thousand: each row would lock its tenant's row. The tables of vectors
-- are made by ingest.create_vector_tables(), because a server may lack pgvector, or get it later.

-- A chunk is live when its document says so: generation = document.live_generation.
create table ingest.chunk (
  tenant_id uuid not null,
  document_id uuid not null,
  generation integer not null,
  ordinal integer not null,
  chunk_id uuid not null,
  project_id uuid not null,
  text text not null,
  token_count integer not null,
  text_length integer not null,
  char_start integer not null,
  char_end integer not null,
  page_from integer,
  page_to integer,
  heading_path text[] not null default '{}',
  embedding_model text not null,
  embedding_text_sha256 bytea not null,
  constraint chunk_pkey primary key (document_id, generation, ordinal)
);
create index chunk_embedding_text_sha256_idx on ingest.chunk (tenant_id, embedding_text_sha256);

-- One row for a lexeme of one batch of a document, not one a chunk: a third of the rows, and liveness is asked once a
-- document. An entry is ordinal << 32 | frequency << 16 | length of the chunk. Both indexes hold a key once for all
-- its rows; only operators that leak nothing may be index conditions under row security, so there is no GIN.
create table ingest.posting (
  tenant_id uuid not null,
  document_id uuid not null,
  generation integer not null,
  lexeme text not null,
  entries bigint[] not null
);
create index posting_lexeme_idx on ingest.posting (tenant_id, lexeme);
create index posting_document_id_idx on ingest.posting (document_id, generation);

-- Chunks that hold a lexeme, as last counted; a lexeme of one chunk has no row.
create table ingest.lexeme_count (
  tenant_id uuid not null,
  lexeme text not null,
  df integer not null,
  constraint lexeme_count_pkey primary key (tenant_id, lexeme)
);

create table ingest.text_statistics (
  tenant_id uuid primary key references accounts.tenant,
  chunk_count bigint not null,
  average_length double precision not null,
  counted_at timestamptz not null,
  tended_at timestamptz,
  tended_threshold integer
);

-- What was staged since the last count: appended, never updated, so that documents of a tenant do not wait for each
-- other.
create table ingest.text_move (
  tenant_id uuid not null,
  chunks integer not null
);
create index text_move_tenant_id_idx on ingest.text_move (tenant_id);

-- The text-search configurations a tenant's documents were read with: a query is read with each of them.
create table ingest.text_config_used (
  tenant_id uuid not null references accounts.tenant,
  text_config text not null,
  constraint text_config_used_pkey primary key (tenant_id, text_config)
);

-- Never shared between tenants: it would tell by its speed what another tenant has, and stand in the way of erasure.
create table ingest.embedding_cache (
  tenant_id uuid not null,
  model text not null,
  text_sha256 bytea not null,
  embedding bytea not null,
  token_count integer not null,
  used_at timestamptz not null,
  constraint embedding_cache_pkey primary key (tenant_id, model, text_sha256)
);
create index embedding_cache_used_at_idx on ingest.embedding_cache (used_at);

create table ingest.sweep (
  tenant_id uuid not null,
  document_id uuid not null,
  generation integer not null,
  due_at timestamptz not null,
  marked_at timestamptz,
  constraint swept_once primary key (document_id, generation)
);
create index sweep_due_at_idx on ingest.sweep (due_at);
create index sweep_tenant_id_idx on ingest.sweep (tenant_id);

-- Which tenants have an HNSW index of their own for a model.
create table ingest.vector_index (
  tenant_id uuid not null references accounts.tenant,
  model text not null,
  dimensions integer not null,
  built_at timestamptz not null,
  constraint vector_index_pkey primary key (tenant_id, model)
);

-- What search reads of a client; written by a trigger on ingest.client_intelligence.
create table ingest.client_text (
  client_id uuid primary key references ingest.client_intelligence on delete cascade,
  tenant_id uuid not null,
  lexemes tsvector not null,
  text_length integer not null
);
create index client_text_tenant_id_idx on ingest.client_text (tenant_id);
