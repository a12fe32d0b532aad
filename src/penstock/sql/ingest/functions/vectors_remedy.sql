-- What to do when vectors are missing, in one line: install the package, create the extension, or create the tables.
create or replace function ingest.vectors_remedy()
returns text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select case
    when ingest.vector_schema() is not null then
      'Run: penstock migrate, or start a worker'
    when exists (select from pg_catalog.pg_available_extensions a where a.name = 'vector') then
      format('As a superuser run: psql -d %I -c ''create extension vector''; then: penstock migrate', current_database())
    else
      format('Install pgvector on the database server (Debian, Ubuntu: apt install postgresql-%s-pgvector) and as a'
        ' superuser run: psql -d %I -c ''create extension vector''; then: penstock migrate. Or set PENSTOCK_INDEX=qdrant',
        current_setting('server_version_num')::integer / 10000, current_database())
  end;
$$;
