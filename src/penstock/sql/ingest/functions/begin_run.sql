-- Begins a run of a document and returns its generation, a number no other run has, which fences the run's later calls.
-- `mode` says what to do: index the document; nothing (gone, done); or wait some seconds because its embedder is unavailable.
-- During a long outage it is indexed with the fallback, if there is one. A run found in progress was lost with its worker: the timeline says so and it starts again.
-- Locks: the document's row, the embedder's outage. Raises PS012.
create or replace function ingest.begin_run(
  _document_id uuid, _task_id bigint, _attempt integer, _code_version text, _fallback text default null,
  _fallback_after double precision default null
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_document ingest.document;
  v_project accounts.project;
  v_pipeline text;
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
    return jsonb_build_object('mode', 'done');
  end if;

  select * into v_chosen from ingest.choose_embedder(v_project.embedder, _fallback, _fallback_after);
  -- A worker of the previous release passes no _fallback_after and cannot wait.
  if v_chosen.wait_seconds is not null and _fallback_after is not null then
    if v_document.reason_code is distinct from 'embedder_unavailable' then
      update ingest.document d set reason_code = 'embedder_unavailable', error_message = left(v_chosen.reason, 2000)
      where d.document_id = _document_id;
      perform ingest.note_event(_document_id, 'waits', null, null, 'embedder_unavailable', v_chosen.reason,
        jsonb_build_object('embedder', v_project.embedder, 'since', v_chosen.since, 'seconds', v_chosen.wait_seconds));
    end if;
    return jsonb_build_object('mode', 'wait', 'seconds', v_chosen.wait_seconds);
  end if;

  v_pipeline := ingest.pipeline_of(v_project, v_chosen.embedder, v_document.pipeline_config, _code_version);
  perform ingest.move_document(
    _document_id, 'processing', 'started', null, null, jsonb_build_object('task_id', _task_id, 'attempt', _attempt));
  if v_chosen.embedder <> v_project.embedder then
    perform ingest.note_event(_document_id, 'fallback', null, null, 'embedder_unavailable', v_chosen.reason,
      jsonb_build_object('embedder', v_chosen.embedder, 'instead_of', v_project.embedder, 'since', v_chosen.since));
  end if;
  update ingest.ingestion i set status = 'processing'
  where i.document_id = _document_id and i.finished_at is null;
  update ingest.document d set next_generation = d.next_generation + 1, task_id = _task_id
  where d.document_id = _document_id;

  return ingest.job_of(v_document, v_project) || jsonb_build_object(
    'mode', 'index',
    'generation', v_document.next_generation,
    'pipeline', v_pipeline,
    'embedder', v_chosen.embedder,
    'is_fallback', v_chosen.embedder <> v_project.embedder,
    'is_probe', v_chosen.is_probe);
end;
$$;
