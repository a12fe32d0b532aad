-- Before handler of `file_delete`: returns the path of the blob, and the document if it is deleted as a whole. The path stays
-- the same after the blob is gone, so a second attempt does no harm. Raises PS012.
create or replace function {{first_function}}(_payload jsonb)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt_id bigint := internal.payload_id(_payload, '{{name}}_attempt_id');
  v_file files.file;
  v_deleted boolean;
begin
  if v_attempt_id is null then
    return internal.refusal('missing_attempt_id', '{{name}}_attempt_id must be the number of an attempt');
  end if;
  select f.* into v_file
  from {{schema}}.{{name}}_attempt a
  join {{schema}}.{{name}}_task t using ({{name}}_task_id)
  join files.file f using (file_id)
  where a.tenant_id = internal.require_tenant() and a.{{name}}_attempt_id = v_attempt_id;
  if not found then
    return internal.refusal('attempt_not_found', format('there is no {{name}} attempt %s', v_attempt_id));
  end if;
  select d.deleted_at is not null into v_deleted from ingest.document d where d.document_id = v_file.document_id;
  if not v_deleted and exists (select from ingest.document d where d.file_id = v_file.file_id) then
    return internal.refusal('file_in_use', format('file %s is the content of a document', v_file.file_id));
  end if;
  return jsonb_build_object('status', 'succeeded', 'payload', jsonb_build_object(
    'bucket', null,
    'object_key', v_file.blob_path,
    'tenant_id', v_file.tenant_id,
    'document_id', case when v_deleted then v_file.document_id end));
end;
$$;
