    -- When its blob is gone, the rows of a deleted document are deleted too; then the file is marked as deleted.
    select f.* into v_file
    from {{schema}}.{{name}}_task t join files.file f using (file_id)
    where t.{{name}}_task_id = v_attempt.{{name}}_task_id;
    if exists (select from ingest.document d where d.document_id = v_file.document_id and d.deleted_at is not null) then
      perform ingest.erase_chunks(v_file.document_id);
    end if;
    perform files.mark_file_deleted(v_file.file_id);
    perform ingest.note_event(
      v_file.document_id, 'removed', null, null, null, null, jsonb_build_object('file_id', v_file.file_id));
