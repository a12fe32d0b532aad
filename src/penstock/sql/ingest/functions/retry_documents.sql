-- Enqueues the tenant's failed or skipped documents again: all, or those with a reason or of a project. In steps: returns how
-- many it enqueued, and is called again with the same _until, so that a document that fails again meanwhile is not retried
-- for ever. Locks: the documents' rows, skipping those that are locked. Raises PS005, PS012, PS013.
create or replace function ingest.retry_documents(
  _status text, _reason text default null, _project text default null, _until timestamptz default null,
  _limit integer default 500
)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_project_id uuid;
  v_document_id uuid;
  v_count integer := 0;
begin
  if ingest.count_to_retry(_status, _reason, _project) = 0 then
    return 0;
  end if;
  if _project is not null then
    v_project_id := (accounts.find_project(_project)).project_id;
  end if;
  for v_document_id in
    select d.document_id from ingest.document d
    where d.tenant_id = internal.require_tenant() and d.deleted_at is null
      and d.status = _status::ingest.document_status
      and (_reason is null or d.reason_code = _reason)
      and (v_project_id is null or d.project_id = v_project_id)
      and (_until is null or d.updated_at <= _until)
    order by d.document_id
    limit _limit
    for update skip locked
  loop
    perform ingest.retry_document(v_document_id);
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;
