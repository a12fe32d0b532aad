-- Enqueues a run of a document: one live task per document, by a coalescing key; documents with a pipeline of their own go
-- first. A request during a run causes exactly one more run.
create or replace function ingest.enqueue_ingest(_document_id uuid)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_task_id bigint;
begin
  select queues.enqueue(
    _task_type => 'ingest-document',
    _payload => jsonb_build_object('document_id', d.document_id),
    _priority => case when d.pipeline_config is not null then 4 end,
    _tenant_id => d.tenant_id,
    _unique_key => d.document_id::text,
    _on_duplicate => 'coalesce')
  into v_task_id
  from ingest.document d where d.document_id = _document_id and d.tenant_id = internal.require_tenant();
  update ingest.document d set task_id = v_task_id where d.document_id = _document_id;
  return v_task_id;
end;
$$;
