-- The documents that match a filter, if they are few enough (5,000 documents, 20,000 chunks) to compare all their chunks; null
-- when there are more, or no filter. Exact search among few and the index among many make a filtered search return as many
-- rows as exist. Raises PS012.
create or replace function search.candidate_documents(
  _filter jsonb, out document_ids uuid[], out generations integer[]
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_documents constant integer := 5000;
  v_chunks constant integer := 20000;
  v_found bigint;
  v_chunk_count bigint;
begin
  if coalesce(_filter, '{}') = '{}' then
    return;
  end if;
  execute format(
    'select coalesce(array_agg(c.document_id), ''{}''), coalesce(array_agg(c.live_generation), ''{}''), count(*), sum(c.chunk_count)
     from (
       select d.document_id, %s as live_generation, d.chunk_count from ingest.document d
       where d.tenant_id = %L::uuid and %s
       limit %s) c',
    search.shown_generation(_filter), internal.require_tenant(), search.document_filter(_filter), v_documents + 1)
  into document_ids, generations, v_found, v_chunk_count;
  if v_found > v_documents or v_chunk_count > v_chunks then
    document_ids := null;
    generations := null;
  end if;
end;
$$;
