-- The live documents of a project whose external id starts with a text, or is that text without its last slash, in the order of
-- their ids; `_after` is the last id of the previous page. Raises PS012, PS013.
create or replace function ingest.list_external(
  _project text, _prefix text, _after uuid default null, _limit integer default 1000
)
returns table (document_id uuid, external_id text, path text)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_project_id uuid := (accounts.find_project(_project)).project_id;
begin
  return query
  select d.document_id, d.external_id, d.path
  from ingest.document d
  where d.tenant_id = internal.require_tenant() and d.project_id = v_project_id
    and d.identity = 'external' and d.deleted_at is null
    and (starts_with(d.external_id, _prefix) or d.external_id = rtrim(_prefix, '/'))
    and (_after is null or d.document_id > _after)
  order by d.document_id
  limit _limit;
end;
$$;
