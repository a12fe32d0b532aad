-- The tenant's live documents, newest first; `_before` is the last id of the previous page. Raises PS012, PS013.
create or replace function ingest.list_documents(
  _project text default null,
  _status text default null,
  _source_id uuid default null,
  _mime_type text default null,
  _title text default null,
  _before uuid default null,
  _limit integer default 50
)
returns setof jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
  v_project_id uuid;
begin
  if _project is not null then
    v_project_id := (accounts.find_project(_project)).project_id;
  end if;
  return query
  select ingest.document_row(d)
  from ingest.document d
  where d.tenant_id = internal.require_tenant()
    and d.deleted_at is null
    and (v_project_id is null or d.project_id = v_project_id)
    and (_status is null or d.status = _status::ingest.document_status)
    and (_source_id is null or d.source_id = _source_id)
    and (_mime_type is null or d.mime_type = _mime_type)
    and (_title is null or strpos(lower(coalesce(d.title, '') || ' ' || coalesce(d.filename, '')), lower(_title)) > 0)
    and (_before is null or d.document_id < _before)
  order by d.document_id desc
  limit least(greatest(_limit, 1), 1001);
end;
$$;
