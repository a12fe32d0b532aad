-- What is left to do of a shard: its documents without an outcome, with how often each was begun and lost. A switch to another
-- embedder leaves failed documents alone, as ingest.plan_bulk() does. Locks: the shard's row shared. Raises PS006, PS012.
create or replace function ingest.shard_documents(
  _run_id uuid, _shard integer, _token integer, _code_version text, out document_id uuid, out losses integer
)
returns setof record
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_shard ingest.bulk_shard := ingest.hold_shard(_run_id, _shard, _token);
  v_run ingest.bulk_run;
  v_project accounts.project;
begin
  select * into v_run from ingest.bulk_run r where r.run_id = _run_id;
  select * into v_project from accounts.project p where p.project_id = v_run.project_id;
  return query
    select d.document_id, coalesce(b.attempts, 0)::integer
    from ingest.document d
    left join ingest.bulk_document b on b.run_id = _run_id and b.shard = _shard and b.document_id = d.document_id
    where d.project_id = v_run.project_id and d.document_id between v_shard.first_id and v_shard.last_id
      and d.deleted_at is null and d.status <> 'skipped' and not (v_run.switches and d.status = 'failed')
      and (b.document_id is null or b.outcome = 'begun')
      and not ((v_run.switches or v_run.holds) and ingest.is_ready(d, v_project, v_run, _code_version))
    order by d.document_id;
end;
$$;
