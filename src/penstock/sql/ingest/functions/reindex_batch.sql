-- Enqueues the next documents of a project again, in order of their ids; returns the last id, null at the end.
-- Raises PS012.
create or replace function ingest.reindex_batch(_project_id uuid, _after uuid default null, _limit integer default 500)
returns uuid
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_document_id uuid;
  v_last uuid;
begin
  for v_document_id in
    select d.document_id from ingest.document d
    where d.tenant_id = internal.require_tenant() and d.project_id = _project_id and d.deleted_at is null
      and (_after is null or d.document_id > _after)
    order by d.document_id
    limit _limit
  loop
    perform ingest.reindex_document(v_document_id);
    v_last := v_document_id;
  end loop;
  return v_last;
end;
$$;
