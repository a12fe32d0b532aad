-- About how many chunks are live, by the last count of each tenant's words: what an index outside the database should hold.
create or replace function all_tenants.indexed_chunks()
returns bigint
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(sum(s.chunk_count), 0)::bigint from ingest.text_statistics s;
$$;
