-- Removes a generation that never went live or is no longer live, and returns how many chunks were deleted.
-- Locks: the document's row, shared. Raises PS011, PS012.
create or replace function ingest.drop_generation(_document_id uuid, _generation integer)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_live integer;
begin
  select d.live_generation into v_live from ingest.document d
  where d.tenant_id = v_tenant_id and d.document_id = _document_id
  for share;
  if v_live = _generation then
    raise exception using errcode = 'PS011', detail = 'generation',
      message = format('generation %s of document %s is live', _generation, _document_id),
      hint = 'Delete the document, or index it again first.';
  end if;
  return ingest.remove_generation(v_tenant_id, _document_id, _generation);
end;
$$;
