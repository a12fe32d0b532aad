-- Enqueues the re-index of a project: all its documents are indexed again. With another embedder this happens beside the live
-- one, until a switch changes all documents at once. One such task per project. Raises PS012, PS013.
create or replace function ingest.start_reindex(_project text, _embedder text default null)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_project accounts.project := accounts.find_project(_project);
begin
  if _embedder is not null then
    update accounts.project p set next_embedder = nullif(_embedder, p.embedder)
    where p.project_id = v_project.project_id;
  end if;
  return queues.enqueue(
    _task_type => 'reindex-project',
    _payload => jsonb_build_object('project_id', v_project.project_id, 'embedder', _embedder),
    _tenant_id => v_project.tenant_id,
    _unique_key => v_project.project_id::text,
    _on_duplicate => 'coalesce');
end;
$$;
