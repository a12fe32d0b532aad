-- Plans the next shards of a run, in the order of the documents' ids: a shard ends after the run's number of documents or bytes.
-- Documents that a classifier skipped have nothing to index, and a switch to another embedder leaves those alone that failed: they
-- can be retried after it. If all are published at once, only those count that are not ready.
-- Returns how many shards it planned; 0 when every document has one, or when the run is not planning. Two planners take turns.
-- Locks: the run's row. Raises PS012, PS013.
create or replace function ingest.plan_bulk(_run_id uuid, _code_version text, _shards integer default 50)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run ingest.bulk_run := ingest.hold_bulk(_run_id);
  v_project accounts.project;
  v_count integer;
begin
  if v_run.state <> 'planning' then
    return 0;
  end if;
  select * into v_project from accounts.project p where p.project_id = v_run.project_id;
  with next as (
    select d.document_id, d.size_bytes from ingest.document d
    where d.project_id = v_run.project_id and d.deleted_at is null
      and (v_run.planned_to is null or d.document_id > v_run.planned_to)
      and (d.status = 'indexed' or d.status = 'failed' and not v_run.switches)
      and not ((v_run.switches or v_run.holds) and ingest.is_ready(d, v_project, v_run, _code_version))
    order by d.document_id
    limit _shards * v_run.shard_documents
  ), placed as (
    select n.document_id,
      (row_number() over by_id - 1) / v_run.shard_documents as by_count,
      (sum(n.size_bytes) over by_id - n.size_bytes)::bigint / v_run.shard_bytes as by_bytes
    from next n
    window by_id as (order by n.document_id)
  ), ranges as (
    select min(p.document_id::text)::uuid as first_id, max(p.document_id::text)::uuid as last_id, count(*) as documents,
      row_number() over (order by p.by_count, p.by_bytes) - 1 as place
    from placed p
    group by p.by_count, p.by_bytes
  )
  insert into ingest.bulk_shard (run_id, shard, tenant_id, first_id, last_id, documents)
  select v_run.run_id, v_run.next_shard + r.place, v_run.tenant_id, r.first_id, r.last_id, r.documents from ranges r;
  get diagnostics v_count = row_count;
  update ingest.bulk_run r set
    next_shard = r.next_shard + v_count,
    planned_to = coalesce(
      (select s.last_id from ingest.bulk_shard s where s.run_id = _run_id order by s.shard desc limit 1), r.planned_to),
    state = case when v_count = 0 then 'running'::ingest.bulk_state else r.state end,
    updated_at = internal.clock()
  where r.run_id = _run_id;
  return v_count;
end;
$$;
