-- How many documents retry_documents() would send through again. Raises PS005, PS012, PS013.
create or replace function ingest.count_to_retry(_status text, _reason text default null, _project text default null)
returns integer
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_project_id uuid;
begin
  if _status is null or _status not in ('failed', 'skipped') then
    raise exception using errcode = 'PS005', detail = 'status',
      message = format('documents with status %s cannot be retried', coalesce(_status, 'null')),
      hint = 'Use failed or skipped.';
  end if;
  if _project is not null then
    v_project_id := (accounts.find_project(_project)).project_id;
  end if;
  return (
    select count(*) from ingest.document d
    where d.tenant_id = internal.require_tenant() and d.deleted_at is null
      and d.status = _status::ingest.document_status
      and (_reason is null or d.reason_code = _reason)
      and (v_project_id is null or d.project_id = v_project_id));
end;
$$;
