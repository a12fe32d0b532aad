-- Continues a run that was stopped or failed, with any engine; a run in progress gets one more driver. What was closed is not done
-- again. Returns the run. Locks: the project's starts, the run's row, then the project's or shards'. A run that is done is
-- refused, and so is one while another of the project is in progress. Raises PS005, PS011, PS012, PS013, PS014.
create or replace function ingest.resume_bulk(_run_id uuid, _engine text default null)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run ingest.bulk_run;
begin
  perform pg_advisory_xact_lock(hashtextextended('start bulk ' || r.project_id, 0)) from ingest.bulk_run r
  where r.tenant_id = internal.require_tenant() and r.run_id = _run_id;
  v_run := ingest.hold_bulk(_run_id);
  if _engine not in ('queue', 'ray') then
    raise exception using errcode = 'PS005', detail = 'engine',
      message = format('%L is not an engine', left(_engine, 80)), hint = 'Use queue or ray.';
  elsif v_run.state = 'done' then
    raise exception using errcode = 'PS011', detail = 'run_id', message = format('re-index %s is done', _run_id),
      hint = 'Start another one: penstock reindex';
  elsif exists (
    select from ingest.bulk_run r where r.project_id = v_run.project_id and r.finished_at is null and r.run_id <> _run_id)
  then
    raise exception using errcode = 'PS014', detail = 'run_id',
      message = 'another re-index of the project is in progress', hint = 'Stop that one first: penstock reindex stop';
  end if;
  if v_run.finished_at is not null then
    perform accounts.find_project(v_run.project_id::text);
    update accounts.project p set next_embedder = nullif(v_run.embedder, p.embedder) where p.project_id = v_run.project_id;
    update ingest.bulk_run r set
      state = 'planning', engine = coalesce(_engine::ingest.bulk_engine, r.engine), reason = null, waits_until = null, finished_at = null,
      updated_at = internal.clock(), task_id = null,
      switches = (select p.next_embedder is not null from accounts.project p where p.project_id = r.project_id),
      holds = exists (select from ingest.gate g where g.project_id = r.project_id)
    where r.run_id = _run_id
    returning * into v_run;
  end if;
  if coalesce(_engine, v_run.engine::text) = 'queue' then
    v_run := ingest.enqueue_bulk(v_run);
    perform ingest.enqueue_shards(_run_id, true);
  end if;
  return ingest.bulk_row(v_run);
end;
$$;
