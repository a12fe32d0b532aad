-- Deletes up to _limit documents of a deleted project, each like ingest.delete_document(), and returns how many; 0 when none is
-- left. Locks: the documents' rows. Raises PS012.
create or replace function ingest.delete_batch(_project_id uuid, _limit integer default 200)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_document_id uuid;
  v_count integer := 0;
begin
  for v_document_id in
    select d.document_id from ingest.document d
    join accounts.project p on p.project_id = d.project_id and p.deleted_at is not null
    where d.tenant_id = internal.require_tenant() and d.project_id = _project_id and d.deleted_at is null
    order by d.document_id limit _limit
  loop
    -- An attachment may already have been deleted with its document.
    if exists (select from ingest.document d where d.document_id = v_document_id and d.deleted_at is null) then
      v_count := v_count + ingest.delete_document(v_document_id);
    end if;
  end loop;
  return v_count;
end;
$$;
