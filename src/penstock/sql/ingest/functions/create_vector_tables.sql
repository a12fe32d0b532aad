-- Creates the vector tables once pgvector is installed; called by each migration and by maintenance, so that an extension
-- installed later is used. Vectors are stored apart from the text, so that an exact scan reads only them, and inline up to a
-- page. Eight partitions by tenant: a plain index build makes the writers of one partition wait, not all.
-- Locks: ingest.chunk_vector while it is created; none when it exists.
create or replace function ingest.create_vector_tables()
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_schema text := ingest.vector_schema();
  v_table text;
begin
  if v_schema is null or to_regclass('ingest.chunk_vector') is not null then
    return;
  end if;
  execute format(
    'create table ingest.chunk_vector (
       tenant_id uuid not null,
       project_id uuid not null,
       document_id uuid not null,
       generation integer not null,
       ordinal integer not null,
       model text not null,
       embedding %s.halfvec not null
     ) partition by hash (tenant_id)', v_schema);
  for v_part in 0..7 loop
    execute format(
      'create table ingest.chunk_vector_%s partition of ingest.chunk_vector
         for values with (modulus 8, remainder %s) with (toast_tuple_target = 8160)', v_part, v_part);
  end loop;
  create index chunk_vector_tenant_id_idx on ingest.chunk_vector (tenant_id, project_id);
  create index chunk_vector_document_id_idx on ingest.chunk_vector (document_id, generation);

  execute format(
    'create table ingest.client_vector (
       client_id uuid primary key references ingest.client_intelligence on delete cascade,
       tenant_id uuid not null,
       model text not null,
       embedding %s.halfvec not null
     )', v_schema);
  create index client_vector_tenant_id_idx on ingest.client_vector (tenant_id);

  -- The same as security/row_security.sql gives every table, for one made after it ran.
  for v_table in
    select c.oid::regclass::text from pg_catalog.pg_class c
    where c.relnamespace = 'ingest'::regnamespace and c.relkind in ('r', 'p')
      and (c.relname = 'client_vector' or c.relname ~ '^chunk_vector(_[0-9])?$')
  loop
    execute format('alter table %s enable row level security', v_table);
    execute format('alter table %s force row level security', v_table);
    execute format(
      'create policy own_tenant on %s for all to public
         using (tenant_id = (select internal.tenant_id())) with check (tenant_id = (select internal.tenant_id()))', v_table);
    execute format('create policy sees_all_tenants on %s for all to penstock_all_tenants using (true) with check (true)', v_table);
    execute format('grant select, insert, update, delete on %s to penstock_all_tenants', v_table);
  end loop;
end;
$$;
