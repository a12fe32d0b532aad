-- Starts a re-index of a project, or joins the one in progress if it does the same; one that does something else is stopped.
-- With another embedder the project keeps its own until every document is staged; with a gate, all documents keep their version
-- until the questions were asked. The engine queue gets its task here, also for a run that another engine began, whose driver may
-- be gone; other engines bring their own driver. Returns the run, as ingest.bulk_row() says it. Locks: the project's starts, its open
-- run's row; if it joins that, its shards', otherwise the project's. Raises PS005, PS012, PS013.
create or replace function ingest.start_bulk(
  _project text,
  _embedder text default null,
  _engine text default 'queue',
  _started_by text default null,
  _shard_documents integer default null,
  _shard_bytes bigint default null
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_project accounts.project := accounts.find_project(_project);
  v_embedder text;
  v_settings text;
  v_run ingest.bulk_run;
  v_holds boolean;
begin
  if _engine not in ('queue', 'ray') then
    raise exception using errcode = 'PS005', detail = 'engine',
      message = format('%L is not an engine', left(_engine, 80)), hint = 'Use queue or ray.';
  end if;
  if _shard_documents not between 1 and 10000 then
    raise exception using errcode = 'PS005', detail = 'shard_documents',
      message = format('a shard of %s documents is out of range', _shard_documents), hint = 'Use 1 to 10000.';
  end if;
  -- No run of the project begins meanwhile, so that the open one can be locked before the project, as ingest.end_bulk() does.
  perform pg_advisory_xact_lock(hashtextextended('start bulk ' || v_project.project_id, 0));
  select * into v_run from ingest.bulk_run r
  where r.project_id = v_project.project_id and r.finished_at is null for no key update;
  if found then
    select * into v_project from accounts.project p where p.project_id = v_project.project_id;
    v_embedder := coalesce(_embedder, v_project.next_embedder, v_project.embedder);
    if v_run.settings = ingest.pipeline_of(v_project, v_embedder, null, null) then
      if _engine = 'queue' and (v_run.task_id is null or not queues.is_open(v_run.task_id)) then
        v_run := ingest.enqueue_bulk(v_run);
        perform ingest.enqueue_shards(v_run.run_id, true);
      end if;
      return ingest.bulk_row(v_run);
    end if;
    perform ingest.end_run(v_run.run_id, 'stopped', 'another re-index of the project replaced it');
  end if;
  select * into v_project from accounts.project p where p.project_id = v_project.project_id for update;
  v_embedder := coalesce(_embedder, v_project.next_embedder, v_project.embedder);
  v_settings := ingest.pipeline_of(v_project, v_embedder, null, null);
  update accounts.project p set next_embedder = nullif(v_embedder, p.embedder)
  where p.project_id = v_project.project_id and p.next_embedder is distinct from nullif(v_embedder, p.embedder);
  v_holds := exists (select from ingest.gate g where g.project_id = v_project.project_id);
  if v_holds and v_embedder = v_project.embedder then
    -- What an earlier run could not index is tried again.
    update ingest.document d set staged_pipeline = null, staged_sha256 = null
    where d.project_id = v_project.project_id and d.staged_pipeline like 'failed %';
  end if;
  insert into ingest.bulk_run (
    run_id, tenant_id, project_id, embedder, switches, holds, settings, engine, shard_documents, shard_bytes, started_by, started_at,
    updated_at)
  values (
    internal.uuid7(), v_project.tenant_id, v_project.project_id, v_embedder, v_embedder <> v_project.embedder, v_holds, v_settings,
    _engine::ingest.bulk_engine,
    coalesce(_shard_documents, 200), coalesce(_shard_bytes, 64 * 1024 * 1024), left(coalesce(_started_by, 'unknown'), 200),
    internal.clock(), internal.clock())
  returning * into v_run;
  if _engine = 'queue' then
    v_run := ingest.enqueue_bulk(v_run);
  end if;
  return ingest.bulk_row(v_run);
end;
$$;
