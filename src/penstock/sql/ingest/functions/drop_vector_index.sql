-- Drops a tenant's HNSW index; its searches are exact again. Locks: the index and its partition, for a moment.
create or replace function ingest.drop_vector_index(_tenant_id uuid, _model text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '3s'
as $$
begin
  execute format('drop index if exists ingest.%I', 'hnsw_' || md5(_tenant_id::text || ' ' || _model));
end;
$$;
