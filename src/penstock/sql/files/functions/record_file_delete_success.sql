-- Success handler of `file_delete`: the blob is gone. What the database holds of a deleted document goes now: chunks,
-- vectors, cached embeddings; then the file is marked. Writes the fact once, which ends the process.
-- Locks: the rows it deletes. Raises PS012.
create or replace function files.record_file_delete_success(_payload jsonb)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt_id bigint := internal.payload_id(_payload -> 'original_payload', 'file_deletion_attempt_id');
  v_attempt files.file_deletion_attempt;
  v_file files.file;
begin
  if v_attempt_id is null then
    return internal.refusal('missing_attempt_id', 'original_payload.file_deletion_attempt_id must be the number of an attempt');
  end if;
  select * into v_attempt from files.file_deletion_attempt a
  where a.tenant_id = internal.require_tenant() and a.file_deletion_attempt_id = v_attempt_id;
  if not found then
    return internal.refusal('attempt_not_found', format('there is no file_deletion attempt %s', v_attempt_id));
  end if;
  insert into files.file_deletion_attempt_succeeded (file_deletion_attempt_id, tenant_id, worker_payload, created_at)
  values (v_attempt_id, v_attempt.tenant_id, coalesce(_payload -> 'worker_payload', '{}'), internal.clock())
  on conflict do nothing;
  if found then
    select f.* into v_file
    from files.file_deletion_task t join files.file f using (file_id)
    where t.file_deletion_task_id = v_attempt.file_deletion_task_id;
    if exists (select from ingest.document d where d.document_id = v_file.document_id and d.deleted_at is not null) then
      perform ingest.erase_chunks(v_file.document_id);
    end if;
    perform files.mark_file_deleted(v_file.file_id);
    perform ingest.note_event(
      v_file.document_id, 'removed', null, null, null, null, jsonb_build_object('file_id', v_file.file_id));
    perform internal.end_process('files.file_deletion', v_attempt.file_deletion_task_id);
  end if;
  return internal.progress('recorded');
end;
$$;
