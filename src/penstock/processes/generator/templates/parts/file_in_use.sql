  if exists (
    select from files.file f join ingest.document d using (document_id)
    where f.tenant_id = v_tenant_id and f.file_id = _file_id and d.deleted_at is null and d.file_id = f.file_id)
  then
    validation_failure_message := format('file %s is the content of a document: delete the document', _file_id);
    return;
  end if;
