-- The schema in which pgvector is installed, quoted, or null without pgvector. It may be any schema, so every use of its types
-- and operators asks here.
create or replace function ingest.vector_schema()
returns text
language sql
stable
parallel safe
as $$
  select quote_ident(n.nspname)
  from pg_catalog.pg_extension e
  join pg_catalog.pg_namespace n on n.oid = e.extnamespace
  where e.extname = 'vector';
$$;
