-- Begins a document of a shard: allocates a generation that is not live and says what to do, as ingest.begin_run() does. `mode`
-- is stage; or done when there is nothing to do: it was deleted, its own run is about to index it anyway or has failed while its
-- project switches to another embedder, or it was begun three times and its worker lost each time. The document stays as searches know it. Locks: the shard's row shared, the document's row.
-- Raises PS006, PS012.
create or replace function ingest.begin_bulk_document(
  _run_id uuid, _shard integer, _token integer, _document_id uuid, _code_version text
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_shard ingest.bulk_shard := ingest.hold_shard(_run_id, _shard, _token);
  v_run ingest.bulk_run;
  v_project accounts.project;
  v_document ingest.document;
  v_before ingest.bulk_document;
  v_outcome ingest.bulk_outcome := 'begun';
  v_pipeline text;
begin
  select * into v_run from ingest.bulk_run r where r.run_id = _run_id;
  select * into v_project from accounts.project p where p.project_id = v_run.project_id;
  select * into v_document from ingest.document d
  where d.tenant_id = v_shard.tenant_id and d.document_id = _document_id and d.project_id = v_run.project_id for update;
  select * into v_before from ingest.bulk_document b
  where b.run_id = _run_id and b.shard = _shard and b.document_id = _document_id;
  if v_document.document_id is null or v_document.deleted_at is not null or v_project.deleted_at is not null then
    v_outcome := 'gone';
  elsif v_document.status not in ('indexed', 'failed') or v_run.switches and v_document.status = 'failed' then
    v_outcome := 'newer';
  elsif v_before.attempts >= 3 then
    v_outcome := 'failed';
  end if;
  if v_before.generation is not null then
    -- The holder that began it may still be writing.
    perform ingest.put_sweep(_document_id, v_before.generation, interval '10 minutes');
  end if;
  v_pipeline := ingest.pipeline_of(v_project, v_run.embedder, v_document.pipeline_config, _code_version);
  insert into ingest.bulk_document as b (
    run_id, shard, document_id, tenant_id, outcome, generation, content_sha256, pipeline, reason_code, message)
  values (
    _run_id, _shard, _document_id, v_shard.tenant_id, v_outcome,
    case v_outcome when 'begun' then v_document.next_generation end, v_document.content_sha256, v_pipeline,
    case v_outcome when 'failed' then 'worker_lost' end,
    case v_outcome when 'failed' then 'three workers were lost while they read it' end)
  on conflict on constraint bulk_document_pkey do update set
    outcome = excluded.outcome, generation = excluded.generation, content_sha256 = excluded.content_sha256,
    pipeline = excluded.pipeline, attempts = b.attempts + 1, reason_code = excluded.reason_code, message = excluded.message;
  if v_outcome <> 'begun' then
    return jsonb_build_object('mode', 'done', 'outcome', v_outcome);
  end if;
  update ingest.document d set next_generation = d.next_generation + 1 where d.document_id = _document_id;
  return ingest.job_of(v_document, v_project) || jsonb_build_object(
    'mode', 'stage',
    'generation', v_document.next_generation,
    'pipeline', v_pipeline,
    'embedder', v_run.embedder,
    'switches', v_run.switches,
    'attempt', coalesce(v_before.attempts, 0) + 1);
end;
$$;
