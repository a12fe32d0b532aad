-- Begins a run of a document and returns its generation, a number no other run has, which fences the run's later calls.
-- `mode` says what to do: index the document; stage it for the project's next embedder beside the live generation; nothing
-- (gone, done); or wait some seconds because its embedder is unavailable. During a long outage it is indexed with the
-- fallback, if there is one. A run found in progress was lost with its worker: the timeline says so and it starts again.
-- Locks: the document's row, the embedder's outage. Raises PS012.
create or replace function ingest.begin_run(
  _document_id uuid, _task_id bigint, _attempt integer, _code_version text, _fallback text default null,
  _fallback_after double precision default null
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_document ingest.document;
  v_project accounts.project;
  v_mode text := 'index';
  v_pipeline text;
  v_embedder text;
  v_chosen record;
begin
  select * into v_document from ingest.document d
  where d.tenant_id = internal.require_tenant() and d.document_id = _document_id and d.deleted_at is null for update;
  if not found then
    return jsonb_build_object('mode', 'gone');
  end if;
  select * into v_project from accounts.project p where p.project_id = v_document.project_id;

  if v_document.status in ('processing', 'embedding') then
    perform ingest.move_document(
      _document_id, 'pending', 'run_lost', 'worker_lost', null, jsonb_build_object('attempt', _attempt));
  elsif v_document.status = 'failed' or v_document.status = 'skipped' and exists (
    select from ingest.ingestion i where i.document_id = _document_id and i.finished_at is null)
  then
    -- A dead letter that was replayed.
    perform ingest.move_document(_document_id, 'pending', 'asked_again');
  elsif v_document.status in ('indexed', 'skipped') then
    v_mode := 'stage';
    if v_document.status = 'skipped' or v_project.next_embedder is null then
      return jsonb_build_object('mode', 'done');
    end if;
  end if;

  v_embedder := case v_mode when 'stage' then v_project.next_embedder else v_project.embedder end;
  select * into v_chosen
  from ingest.choose_embedder(v_embedder, case v_mode when 'index' then _fallback end, _fallback_after);
  -- A worker of the previous release passes no _fallback_after and cannot wait.
  if v_chosen.wait_seconds is not null and _fallback_after is not null then
    if v_mode = 'index' and v_document.reason_code is distinct from 'embedder_unavailable' then
      update ingest.document d set reason_code = 'embedder_unavailable', error_message = left(v_chosen.reason, 2000)
      where d.document_id = _document_id;
      perform ingest.note_event(_document_id, 'waits', null, null, 'embedder_unavailable', v_chosen.reason,
        jsonb_build_object('embedder', v_embedder, 'since', v_chosen.since, 'seconds', v_chosen.wait_seconds));
    end if;
    return jsonb_build_object('mode', 'wait', 'seconds', v_chosen.wait_seconds);
  end if;

  v_pipeline := ingest.pipeline_of(v_project, v_chosen.embedder, v_document.pipeline_config, _code_version);
  if v_mode = 'stage' then
    if v_document.staged_pipeline in (v_pipeline, 'failed ' || v_pipeline) then
      return jsonb_build_object('mode', 'done');
    end if;
    perform ingest.note_event(_document_id, 'staging', null, null, null, null,
      jsonb_build_object('embedder', v_project.next_embedder));
  else
    perform ingest.move_document(
      _document_id, 'processing', 'started', null, null,
      jsonb_build_object('task_id', _task_id, 'attempt', _attempt));
    if v_chosen.embedder <> v_embedder then
      perform ingest.note_event(_document_id, 'fallback', null, null, 'embedder_unavailable', v_chosen.reason,
        jsonb_build_object('embedder', v_chosen.embedder, 'instead_of', v_embedder, 'since', v_chosen.since));
    end if;
    update ingest.ingestion i set status = 'processing'
    where i.document_id = _document_id and i.finished_at is null;
  end if;
  update ingest.document d set next_generation = d.next_generation + 1, task_id = _task_id
  where d.document_id = _document_id;

  return jsonb_build_object(
    'mode', v_mode,
    'generation', v_document.next_generation,
    'pipeline', v_pipeline,
    'document_id', v_document.document_id,
    'project_id', v_project.project_id,
    'project', v_project.slug,
    'embedder', v_chosen.embedder,
    'is_fallback', v_chosen.embedder <> v_embedder,
    'is_probe', v_chosen.is_probe,
    'text_config', coalesce(v_document.pipeline_config ->> 'language', v_project.text_config),
    'chunk_strategy', coalesce(v_document.pipeline_config #>> '{chunking,strategy}', v_project.chunk_strategy),
    'chunk_tokens', coalesce((v_document.pipeline_config #>> '{chunking,size}')::integer, v_project.chunk_tokens),
    'chunk_overlap', coalesce((v_document.pipeline_config #>> '{chunking,overlap}')::integer, v_project.chunk_overlap),
    'parser', coalesce(v_document.pipeline_config ->> 'parser', 'auto'),
    'content_sha256', encode(v_document.content_sha256, 'hex'),
    'size_bytes', v_document.size_bytes,
    'mime_type', v_document.mime_type,
    'filename', v_document.filename,
    'source_id', v_document.source_id,
    'is_restored', exists (
      select from ingest.decision n where n.document_id = _document_id and n.reversed_at is not null),
    'parent_document_id', v_document.parent_document_id,
    'metadata', v_document.metadata,
    'blob_path', (select f.blob_path from files.file f where f.file_id = v_document.file_id),
    'text', case when v_document.file_id is null then (
      select s.text from ingest.source_document s
      where s.source_id = v_document.source_id and s.external_id = v_document.external_id) end);
end;
$$;
