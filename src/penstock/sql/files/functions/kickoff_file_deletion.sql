-- Has a file removed: its blob, and when its document is deleted the chunks, vectors and cached embeddings too. A second
-- call for the same file gives the task there is. What is wrong with the call comes back in words, and then nothing is
-- written. Raises PS012, PS017.
create or replace function files.kickoff_file_deletion(
  _file_id uuid,
  _scheduled_at timestamptz default null,
  out validation_failure_message text,
  out file_deletion_task_id bigint
)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_in_use boolean;
begin
  if _file_id is null then
    validation_failure_message := 'file_id is missing: give the id of a file';
    return;
  end if;
  select d.deleted_at is null and d.file_id = f.file_id into v_in_use
  from files.file f join ingest.document d using (document_id)
  where f.tenant_id = v_tenant_id and f.file_id = _file_id;
  if not found then
    validation_failure_message := format('there is no file %s', _file_id);
    return;
  end if;
  if v_in_use then
    validation_failure_message := format('file %s is the content of a document: delete the document', _file_id);
    return;
  end if;
  insert into files.file_deletion_task as t (tenant_id, file_id, created_at)
  values (v_tenant_id, _file_id, internal.clock())
  on conflict (file_id) do nothing
  returning t.file_deletion_task_id into file_deletion_task_id;
  if file_deletion_task_id is not null then
    perform internal.start_process('files.file_deletion', file_deletion_task_id, _scheduled_at);
  else
    select t.file_deletion_task_id into file_deletion_task_id
    from files.file_deletion_task t where t.tenant_id = v_tenant_id and t.file_id = _file_id;
  end if;
end;
$$;
