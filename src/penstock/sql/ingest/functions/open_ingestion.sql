-- Second half of taking a document in: decides what the ingestion is (unchanged, failed before, joining a run, or a new run),
-- writes it and enqueues the task. The caller holds the document's row.
create or replace function ingest.open_ingestion(
  _document ingest.document,
  _project accounts.project,
  _ingestion_id uuid,
  _source_id uuid,
  _uploaded_by text,
  _source_metadata jsonb,
  _code_version text,
  _created boolean,
  _replaced boolean,
  _reconfigured boolean,
  _retry_failed boolean default true
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
  v_task_id bigint := _document.task_id;
  v_same boolean := _document.status = 'indexed'
    and _document.indexed_sha256 = _document.content_sha256
    and _document.indexed_pipeline
      = ingest.pipeline_of(_project, _project.embedder, _document.pipeline_config, _code_version);
  v_changed boolean := _replaced or _reconfigured;
  v_failed boolean := _document.status = 'failed' and not v_changed and not _retry_failed;
  v_status ingest.ingestion_status := case
    when v_same then 'unchanged' when v_failed then 'failed' else 'queued' end;
begin
  insert into ingest.ingestion (
    ingestion_id, tenant_id, document_id, source_id, uploaded_by, source_metadata, status, created, created_at,
    finished_at, error_code, error_message)
  values (
    _ingestion_id, _document.tenant_id, _document.document_id, _source_id, _uploaded_by,
    coalesce(_source_metadata, '{}'), v_status, _created, v_now, case when v_same or v_failed then v_now end,
    case when v_failed then _document.reason_code end, case when v_failed then _document.error_message end);

  if v_same then
    perform ingest.note_event(
      _document.document_id, 'unchanged', null, null, null, null, '{}', _ingestion_id);
    perform ingest.announce(_ingestion_id);
  elsif v_failed then
    perform ingest.note_event(
      _document.document_id, 'not_retried', null, null, _document.reason_code, null, '{}', _ingestion_id);
    perform ingest.announce(_ingestion_id);
  elsif not _created then
    if _document.status in ('indexed', 'skipped', 'failed') then
      perform ingest.move_document(
        _document.document_id, 'pending', case when v_changed then 'changed' else 'asked_again' end, null, null, '{}',
        _ingestion_id);
      v_changed := true;
    else
      perform ingest.note_event(
        _document.document_id, case when v_changed then 'changed' else 'joined' end, null, null, null, null, '{}',
        _ingestion_id);
    end if;
  end if;
  if _created or v_changed and not v_same then
    v_task_id := ingest.enqueue_ingest(_document.document_id);
  end if;
  return jsonb_build_object(
    'document_id', _document.document_id,
    'ingestion_id', _ingestion_id,
    'created', _created,
    'skipped', v_same,
    'status', v_status,
    'task_id', v_task_id,
    'write_blob', _created or _replaced,
    'blob_path', (select f.blob_path from files.file f where f.file_id = _document.file_id));
end;
$$;
