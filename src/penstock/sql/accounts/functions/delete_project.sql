-- Deletes a project with its documents. From now on it cannot be found, accepts no documents, and no search finds its
-- documents; up to _limit of them are deleted at once, the rest by the task delete-project. Its slug is free again. The
-- project "default" cannot be deleted, because documents without a project go there. Returns how many documents were deleted
-- and how many are left. Locks: the project's row, then its documents'. Raises PS011, PS012, PS013, PS014, PS017.
create or replace function accounts.delete_project(_project text, _limit integer default 500)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_project accounts.project := accounts.find_project(_project);
  v_deleted integer;
  v_left bigint;
  v_task_id bigint;
begin
  perform ingest.open_tenant();
  if v_project.slug = 'default' then
    raise exception using errcode = 'PS011', detail = 'project',
      message = 'the project "default" cannot be deleted: documents without a project go there',
      hint = 'Delete its documents instead.';
  end if;
  if exists (
    select from ingest.source s where s.project_id = v_project.project_id and s.removed_at is null)
  then
    raise exception using errcode = 'PS014', detail = 'project',
      message = format('a source still delivers into the project %L', v_project.slug),
      hint = 'Remove the source first: penstock source list, penstock source remove SOURCE';
  end if;
  update accounts.project p set deleted_at = internal.clock(), next_embedder = null
  where p.project_id = v_project.project_id and p.deleted_at is null;
  delete from ingest.gate g where g.project_id = v_project.project_id;
  delete from ingest.gate_evaluation e where e.project_id = v_project.project_id;
  -- Documents that are left for the task must not be found until then either.
  update ingest.document d set live_generation = 0, staged_generation = null, staged_pipeline = null
  where d.tenant_id = v_project.tenant_id and d.project_id = v_project.project_id and d.deleted_at is null
    and (d.live_generation > 0 or d.staged_pipeline is not null);
  v_deleted := ingest.delete_batch(v_project.project_id, _limit);
  select count(*) into v_left from ingest.document d
  where d.tenant_id = v_project.tenant_id and d.project_id = v_project.project_id and d.deleted_at is null;
  if v_left > 0 then
    v_task_id := queues.enqueue(
      _task_type => 'delete-project',
      _payload => jsonb_build_object('project_id', v_project.project_id),
      _tenant_id => v_project.tenant_id,
      _unique_key => v_project.project_id::text,
      _on_duplicate => 'coalesce');
  end if;
  return jsonb_build_object(
    'project_id', v_project.project_id, 'slug', v_project.slug, 'documents', v_deleted + v_left, 'left', v_left,
    'task_id', v_task_id);
end;
$$;
