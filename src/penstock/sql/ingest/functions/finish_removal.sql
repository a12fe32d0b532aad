-- A deleted document's blobs are gone from the store: its files become records without a path, and the timeline says
-- so. Raises PS012, PS013.
create or replace function ingest.finish_removal(_document_id uuid, _file_ids uuid[])
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  if not exists (
    select from ingest.document d
    where d.tenant_id = internal.require_tenant() and d.document_id = _document_id and d.deleted_at is not null)
  then
    raise exception using errcode = 'PS013', detail = 'document_id',
      message = format('there is no deleted document %s', _document_id), hint = 'Delete it first.';
  end if;
  perform files.mark_file_deleted(f.file_id)
  from files.file f where f.document_id = _document_id and f.file_id = any (_file_ids);
  get diagnostics v_count = row_count;
  perform ingest.note_event(
    _document_id, 'removed', null, null, null, null, jsonb_build_object('blobs', v_count));
end;
$$;
