-- Says what a document waits for: its own state, then its task's. Raises PS012, PS013.
create or replace function ingest.explain_document(_document_id uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_document ingest.document;
  v_task jsonb := '[]';
begin
  select * into v_document from ingest.document d
  where d.tenant_id = internal.require_tenant() and d.document_id = _document_id;
  if not found then
    raise exception using errcode = 'PS013', detail = 'document_id',
      message = format('there is no document %s', _document_id), hint = 'Check the id.';
  end if;
  if v_document.task_id is not null and v_document.status in ('pending', 'processing', 'embedding', 'failed') then
    begin
      -- A run that failed for good has completed its task; saying so would mislead.
      select coalesce(jsonb_agg(to_jsonb(e)), '[]') into v_task from queues.explain(v_document.task_id) e
      where v_document.status <> 'failed' or e.reason <> 'ended';
    exception
      when sqlstate 'PS007' then
        null;
    end;
  end if;
  return jsonb_build_object(
    'document_id', v_document.document_id,
    'path', v_document.path,
    'filename', v_document.filename,
    'title', v_document.title,
    'status', v_document.status,
    'reason_code', v_document.reason_code,
    'error_message', v_document.error_message,
    'searchable', v_document.live_generation > 0,
    'task_id', v_document.task_id,
    'open_ingestions', (
      select count(*) from ingest.ingestion i where i.document_id = _document_id and i.finished_at is null),
    'waits_for', coalesce(
      (select jsonb_agg(to_jsonb(o)) from ingest.explain_status(v_document) o), '[]') || v_task,
    'events', (
      select coalesce(jsonb_agg(to_jsonb(e) - 'tenant_id' order by e.event_id), '[]')
      from ingest.document_event e where e.document_id = _document_id));
end;
$$;
