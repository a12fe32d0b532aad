-- The only place where a document's status changes; every change is appended to the timeline. Returns the status before.
-- Locks: the document's row. Raises PS011 for a change that ingest.may_move() does not allow, PS013.
create or replace function ingest.move_document(
  _document_id uuid,
  _to ingest.document_status,
  _event text,
  _reason_code text default null,
  _message text default null,
  _detail jsonb default '{}',
  _ingestion_id uuid default null
)
returns ingest.document_status
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from ingest.document_status;
begin
  select d.status into v_from from ingest.document d
  where d.tenant_id = internal.require_tenant() and d.document_id = _document_id for update;
  if not found then
    raise exception using errcode = 'PS013', detail = 'document_id',
      message = format('there is no document %s', _document_id),
      hint = 'Check the id, and that the document belongs to this tenant.';
  end if;
  if not ingest.may_move(v_from, _to) then
    raise exception using errcode = 'PS011', detail = 'status',
      message = format('a document cannot go from %s to %s', v_from, _to),
      hint = case when v_from = 'deleted' then 'Upload the content again; it becomes a new document.'
        when v_from in ('pending', 'processing', 'embedding') then 'Wait until its run has ended.'
        else 'Look at the document first.' end;
  end if;
  update ingest.document d set
    status = _to,
    updated_at = internal.clock(),
    reason_code = case when _to in ('indexed', 'deleted') then null else coalesce(_reason_code, d.reason_code) end,
    error_message = case when _to in ('indexed', 'deleted') then null else coalesce(_message, d.error_message) end,
    fingerprint = case when _to = 'failed' then internal.fingerprint('document', coalesce(_reason_code, d.reason_code),
      coalesce(_message, d.error_message)) end,
    live_generation = case when _to = 'deleted' then 0 else d.live_generation end,
    deleted_at = case when _to = 'deleted' then internal.clock() end
  where d.document_id = _document_id;
  perform ingest.note_event(_document_id, _event, v_from, _to, _reason_code, _message, _detail, _ingestion_id);
  return v_from;
end;
$$;
