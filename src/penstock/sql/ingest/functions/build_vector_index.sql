-- Builds an HNSW index for a tenant over its vectors of one model. A plain build: "concurrently" cannot run in a function, and
-- a login that may run it would have to own the tables, which no process of ours does. Writers of the tenant's partition
-- wait during the build (seconds for 100,000 chunks, once), searches do not; if a writer holds its lock too long, the build
-- is left for the next maintenance. The build is careful (ef_construction), because each search gains; an insert, which would pay the
-- same for each chunk, is half as careful. Locks: the tenant's partition of ingest.chunk_vector, in share mode. Raises PS005, 55P03.
create or replace function ingest.build_vector_index(_tenant_id uuid, _model text, _dimensions integer)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '3s'
set maintenance_work_mem = '512MB'
as $$
declare
  v_schema text := ingest.require_vectors();
  v_name text := 'hnsw_' || md5(_tenant_id::text || ' ' || _model);
  v_partition regclass;
begin
  select c.oid into v_partition from pg_catalog.pg_inherits i
  join pg_catalog.pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'ingest.chunk_vector'::regclass
    and satisfies_hash_partition(i.inhparent, 8, right(c.relname, 1)::integer, _tenant_id);
  execute format(
    'create index %I on %s using hnsw ((embedding::%s.halfvec(%s)) %s.halfvec_ip_ops) with (m = 16, ef_construction = 200)
       where tenant_id = %L::uuid and model = %L',
    v_name, v_partition, v_schema, _dimensions, v_schema, _tenant_id, _model);
  execute format('alter index ingest.%I set (ef_construction = 100)', v_name);
end;
$$;
