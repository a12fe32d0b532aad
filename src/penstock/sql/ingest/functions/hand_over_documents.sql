-- Gives the documents of a source that another source or a person brought, too, to them: files that are known by their
-- content are shared. What is left is the source's alone. Returns how many were handed over.
-- Locks: these documents, in the order of their ids.
create or replace function ingest.hand_over_documents(_source_id uuid)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count bigint;
begin
  with shared as (
    select d.document_id, o.source_id
    from ingest.document d
    cross join lateral (
      select i.source_id
      from ingest.ingestion i
      left join ingest.source s on s.source_id = i.source_id
      where i.document_id = d.document_id
        and (i.uploaded_by not like 'document:%' or (i.source_id <> _source_id and s.removed_at is null))
      order by i.ingestion_id
      limit 1
    ) o
    where d.tenant_id = internal.require_tenant() and d.source_id = _source_id and d.identity = 'content'
      and d.deleted_at is null
    order by d.document_id
    for update of d
  )
  update ingest.document d set source_id = s.source_id, updated_at = internal.clock()
  from shared s
  where d.document_id = s.document_id;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
