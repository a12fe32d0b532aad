-- Writes what one look saw of an item, in the transaction that took its document in. Without a document, what was made of the item
-- before is deleted: its present content cannot become one, and _payload says why. The newest event looked at is kept.
-- Locks: the item's row, the document's. Raises PS012, PS013 if the source was removed meanwhile, PS017.
create or replace function ingest.put_item(
  _source_id uuid,
  _stream text,
  _external_id text,
  _document_type text,
  _document_id uuid,
  _version text,
  _payload jsonb,
  _payload_sha256 bytea,
  _updated_at timestamptz default null,
  _sequencer text default null
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
  v_tenant_id uuid := (ingest.open_tenant()).tenant_id;
  v_before uuid;
begin
  perform from ingest.source s
  where s.tenant_id = v_tenant_id and s.source_id = _source_id and s.removed_at is null for key share;
  if not found then
    raise exception using errcode = 'PS013', detail = 'source_id',
      message = format('there is no source %s', _source_id),
      hint = 'List the sources of this tenant: penstock source list';
  end if;
  select d.document_id into v_before from ingest.source_document d
  where d.source_id = _source_id and d.external_id = _external_id for update;
  insert into ingest.source_document as d (
    source_id, external_id, tenant_id, stream, document_type, document_id, version, raw_payload, payload_sha256, map_version,
    pass, source_updated_at, created_at, updated_at, sequencer)
  values (
    _source_id, _external_id, v_tenant_id, _stream, _document_type, _document_id, _version, _payload, _payload_sha256, 0,
    coalesce((select s.pass from ingest.source_stream s where s.source_id = _source_id and s.stream = _stream), 0),
    _updated_at, v_now, v_now, _sequencer)
  on conflict (source_id, external_id) do update set
    document_type = excluded.document_type, document_id = excluded.document_id, version = excluded.version,
    raw_payload = excluded.raw_payload, payload_sha256 = excluded.payload_sha256, map_version = excluded.map_version,
    pass = excluded.pass, source_updated_at = excluded.source_updated_at, updated_at = excluded.updated_at,
    sequencer = case when ingest.is_newer_event(excluded.sequencer, d.sequencer)
      then coalesce(excluded.sequencer, d.sequencer) else d.sequencer end;
  perform ingest.delete_document(d.document_id)
  from ingest.document d
  where d.document_id = v_before and d.document_id is distinct from _document_id and d.deleted_at is null;
end;
$$;
