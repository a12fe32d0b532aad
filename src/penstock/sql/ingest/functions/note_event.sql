-- Appends to a document's timeline, and tells pages that show the document: every move of a document goes through here.
create or replace function ingest.note_event(
  _document_id uuid,
  _event text,
  _from ingest.document_status default null,
  _to ingest.document_status default null,
  _reason_code text default null,
  _message text default null,
  _detail jsonb default '{}',
  _ingestion_id uuid default null
)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into ingest.document_event (
    tenant_id, document_id, ingestion_id, at, event, from_status, to_status, reason_code, message, detail)
  values (
    internal.require_tenant(), _document_id, _ingestion_id, internal.clock(), _event, _from, _to, _reason_code,
    left(_message, 2000), coalesce(_detail, '{}'));
  select internal.announce(internal.tenant_id(), 'document:' || _document_id);
$$;
