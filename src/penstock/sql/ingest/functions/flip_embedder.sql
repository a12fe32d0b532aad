-- Makes a project's next embedder the live one, for all its documents in one transaction. Returns flipped; waiting when a
-- document was added meanwhile and is not staged yet; given_up when no document could be staged: then the project keeps its
-- present embedder. Locks: the project's row (runs that finish wait), then documents'. Raises PS012.
create or replace function ingest.flip_embedder(_project_id uuid, _code_version text)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_project accounts.project;
begin
  select * into v_project from accounts.project p
  where p.tenant_id = internal.require_tenant() and p.project_id = _project_id for update;
  if v_project.next_embedder is null then
    return 'flipped';
  end if;
  if exists (
    select from ingest.document d
    where d.project_id = _project_id and d.deleted_at is null
      and (d.status in ('pending', 'processing', 'embedding')
        or d.status = 'indexed' and not ingest.is_staged(d, v_project, _code_version)))
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
    update ingest.document d set staged_generation = null, staged_pipeline = null
    where d.project_id = _project_id and d.staged_pipeline is not null;
    update accounts.project p set next_embedder = null where p.project_id = _project_id;
    return 'given_up';
  end if;
  with flipped as (
    update ingest.document d set
      live_generation = d.staged_generation, indexed_pipeline = d.staged_pipeline, staged_generation = null,
      staged_pipeline = null, fallback_embedder = null, chunk_count = d.staged_chunks, token_count = d.staged_tokens,
      indexed_at = internal.clock(), updated_at = internal.clock()
    from ingest.document o
    where o.document_id = d.document_id and d.project_id = _project_id and d.deleted_at is null
      and d.staged_generation is not null
      and d.staged_pipeline = ingest.pipeline_of(v_project, v_project.next_embedder, d.pipeline_config, _code_version)
    returning d.document_id, o.live_generation
  ), told as (
    insert into ingest.document_event (tenant_id, document_id, at, event, detail)
    select v_project.tenant_id, f.document_id, internal.clock(), 'embedder_switched',
      jsonb_build_object('embedder', v_project.next_embedder)
    from flipped f
  )
  insert into ingest.sweep (tenant_id, document_id, generation, due_at)
  select v_project.tenant_id, f.document_id, f.live_generation, internal.clock() + interval '10 minutes'
  from flipped f where f.live_generation > 0
  on conflict do nothing;
  update accounts.project p set embedder = v_project.next_embedder, next_embedder = null
  where p.project_id = _project_id;
  return 'flipped';
end;
$$;
