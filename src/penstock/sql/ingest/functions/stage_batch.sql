-- Enqueues documents of a project that are not staged for its next embedder; returns how many are not ready yet, or null when
-- no switch is in progress. A document whose staging failed for good stays behind: its old generation is still found by its
-- words. Raises PS012.
create or replace function ingest.stage_batch(_project_id uuid, _code_version text, _limit integer default 500)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_project accounts.project;
  v_left integer;
  v_document_id uuid;
begin
  select * into v_project from accounts.project p
  where p.tenant_id = internal.require_tenant() and p.project_id = _project_id;
  if v_project.next_embedder is null then
    return null;
  end if;
  for v_document_id in
    select d.document_id from ingest.document d
    where d.project_id = _project_id and d.deleted_at is null and d.status = 'indexed'
      and not ingest.is_staged(d, v_project, _code_version)
      and coalesce(queues.task_state(d.task_id), 'completed') not in ('ready', 'waiting', 'parked', 'running', 'dead')
    order by d.document_id
    limit _limit
  loop
    perform ingest.enqueue_ingest(v_document_id);
  end loop;
  select count(*) into v_left from ingest.document d
  where d.project_id = _project_id and d.deleted_at is null
    and (d.status in ('pending', 'processing', 'embedding')
      or d.status = 'indexed' and not ingest.is_staged(d, v_project, _code_version));
  return v_left;
end;
$$;
