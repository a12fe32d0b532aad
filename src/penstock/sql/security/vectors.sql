-- Creates pgvector where the server has it, and the tables that need it. Comes before row_security.sql, which guards them.
do $vector$
declare
  v_schema name;
begin
  if not exists (select from pg_catalog.pg_extension as e where e.extname = 'vector')
    and exists (select from pg_catalog.pg_available_extensions as a where a.name = 'vector')
  then
    begin
      create extension vector;
    exception
      when insufficient_privilege or invalid_schema_name then
        null; -- ingest.require_vectors() says which role may create it
    end;
  end if;
  select n.nspname into v_schema
  from pg_catalog.pg_extension as e
  join pg_catalog.pg_namespace as n on n.oid = e.extnamespace
  where e.extname = 'vector';
  if v_schema is not null
    and not pg_catalog.has_schema_privilege('penstock_owner', v_schema::text, 'usage')
  then
    execute format('grant usage on schema %I to penstock_owner', v_schema);
  end if;
  perform ingest.create_vector_tables();
end
$vector$;
