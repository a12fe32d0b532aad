-- Publishes what a re-index has staged, for all documents of a project in one transaction, and makes the project's next embedder the
-- live one. Returns flipped; waiting when a document was added meanwhile and is not staged yet; gate while the project's
-- questions were not answered as well as before (ingest.gate_says() says why); given_up when no document could be
-- staged: then the project keeps its present embedder. What was staged of a document that is no longer indexed (its own
-- run failed, or a classifier skipped it) is removed. _run_id: the run whose documents these are; default: the project's open one.
-- Locks: the project's row (runs that finish wait), then documents'. Raises PS012.
create or replace function ingest.flip_embedder(_project_id uuid, _code_version text, _run_id uuid default null)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_project accounts.project;
  v_run ingest.bulk_run;
  v_embedder text;
begin
  select * into v_project from accounts.project p
  where p.tenant_id = internal.require_tenant() and p.project_id = _project_id for update;
  select * into v_run from ingest.bulk_run r
  where r.project_id = _project_id and r.finished_at is null and (_run_id is null or r.run_id = _run_id);
  if v_project.next_embedder is null and not coalesce(v_run.holds, false) then
    return 'flipped';
  end if;
  v_embedder := coalesce(v_project.next_embedder, v_project.embedder);
  if exists (
    select from ingest.document d
    where d.project_id = _project_id and d.deleted_at is null
      and (v_project.next_embedder is not null and d.status in ('pending', 'processing', 'embedding')
        or d.status = 'indexed' and not coalesce(ingest.is_ready(d, v_project, v_run, _code_version), false)))
  then
    return 'waiting';
  end if;
  if exists (
    select from ingest.document d
    where d.project_id = _project_id and d.deleted_at is null and d.staged_pipeline like 'failed %')
    and not exists (
      select from ingest.document d
      where d.project_id = _project_id and d.deleted_at is null and d.staged_pipeline not like 'failed %')
  then
    perform ingest.drop_staged(_project_id);
    return 'given_up';
  end if;
  if not ingest.ask_gate(v_project, v_run, _code_version) then
    return 'gate';
  end if;
  with flipped as (
    update ingest.document d set
      live_generation = d.staged_generation, indexed_pipeline = d.staged_pipeline, indexed_sha256 = d.staged_sha256,
      staged_generation = null, staged_pipeline = null, staged_sha256 = null, staged_facts = null, fallback_embedder = null,
      chunk_count = d.staged_chunks, token_count = d.staged_tokens, indexed_at = internal.clock(), updated_at = internal.clock(),
      -- What an earlier version has staged for a switch has no facts: the row stays as it is.
      title = case when d.staged_facts is null then d.title else d.staged_facts ->> 'title' end,
      author = case when d.staged_facts is null then d.author else d.staged_facts ->> 'author' end,
      language = case when d.staged_facts is null then d.language else d.staged_facts ->> 'language' end,
      document_created_at = case when d.staged_facts is null then d.document_created_at
        else (d.staged_facts ->> 'created_at')::timestamptz end,
      document_modified_at = case when d.staged_facts is null then d.document_modified_at
        else (d.staged_facts ->> 'modified_at')::timestamptz end,
      page_count = case when d.staged_facts is null then d.page_count else (d.staged_facts ->> 'page_count')::integer end,
      parser = case when d.staged_facts is null then d.parser else d.staged_facts ->> 'parser' end,
      warnings = case when d.staged_facts is null then d.warnings
        else array(select jsonb_array_elements_text(coalesce(d.staged_facts -> 'warnings', '[]'))) end
    from ingest.document o
    where o.document_id = d.document_id and d.project_id = _project_id and d.deleted_at is null and d.status = 'indexed'
      and d.staged_generation is not null and d.staged_sha256 = d.content_sha256
      and d.staged_pipeline = ingest.pipeline_of(v_project, v_embedder, d.pipeline_config, _code_version)
    returning d.document_id, o.live_generation
  ), told as (
    insert into ingest.document_event (tenant_id, document_id, at, event, detail)
    select v_project.tenant_id, f.document_id, internal.clock(),
      case when v_project.next_embedder is null then 'reindexed' else 'embedder_switched' end,
      case when v_project.next_embedder is null then jsonb_build_object('run_id', v_run.run_id)
        else jsonb_build_object('embedder', v_project.next_embedder) end
    from flipped f
  )
  insert into ingest.sweep (tenant_id, document_id, generation, due_at)
  select v_project.tenant_id, f.document_id, f.live_generation, internal.clock() + interval '10 minutes'
  from flipped f where f.live_generation > 0
  on conflict do nothing;
  with dropped as (
    update ingest.document d set
      staged_generation = null, staged_pipeline = null, staged_sha256 = null, staged_chunks = null, staged_tokens = null,
      staged_facts = null
    from ingest.document o
    where o.document_id = d.document_id and d.project_id = _project_id and d.staged_generation is not null
    returning d.document_id, o.staged_generation
  )
  insert into ingest.sweep (tenant_id, document_id, generation, due_at)
  select v_project.tenant_id, x.document_id, x.staged_generation, internal.clock() from dropped x
  on conflict do nothing;
  if v_project.next_embedder is null then
    -- These keep the version they have; the re-index says why.
    update ingest.document d set staged_pipeline = null, staged_sha256 = null
    where d.project_id = _project_id and d.staged_pipeline like 'failed %';
    return 'flipped';
  end if;
  update ingest.client_intelligence c set embedding_model = null -- maintenance embeds what a person wrote again
  where c.project_id = _project_id and c.source_id is null and c.embedding_model is not null;
  update accounts.project p set embedder = v_project.next_embedder, next_embedder = null
  where p.project_id = _project_id;
  return 'flipped';
end;
$$;
