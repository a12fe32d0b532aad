-- Takes a document in, from any origin, in the caller's transaction: inserts or reuses the document, and writes a file row, an
-- ingestion, the timeline and the task. The answer says whether the caller must write the blob before it commits
-- (`write_blob`, `blob_path`).
-- The external id is the document's identity: within the project for uploads and webhooks, within the source for items of a
-- connected source (internal.source_kind). Other content under a known external id replaces the content. Without an external
-- id the content is the identity.
-- Same content again: the document is reused and no blob is written. If it is indexed with the present pipeline, the
-- ingestion ends unchanged at once; while a run is in progress, the ingestion joins that run, which closes all open ingestions
-- under the same row lock. With `_retry_failed` false, content that failed for good is not tried again.
-- Locks: an advisory lock of the external id if one is given, the document's row, the intent to write the blob.
-- Raises PS005, PS012, PS013, PS014, PS015, PS017; then nothing is written.
create or replace function ingest.take_in(
  _document_id uuid,
  _ingestion_id uuid,
  _file_id uuid,
  _project text,
  _content_sha256 bytea,
  _size_bytes bigint,
  _mime_type text,
  _extension text,
  _code_version text,
  _filename text default null,
  _uploaded_by text default null,
  _source_id uuid default null,
  _source_metadata jsonb default '{}',
  _metadata jsonb default null,
  _external_id text default null,
  _pipeline_config jsonb default null,
  _parent_document_id uuid default null,
  _retry_failed boolean default true
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := internal.clock();
  v_tenant accounts.tenant;
  v_project accounts.project;
  v_identity text := case when _external_id is null then 'content' else 'external' end;
  v_path text := _source_metadata ->> 'path';
  v_document ingest.document;
  v_document_id uuid;
  v_created boolean := false;
  v_replaced boolean := false;
  v_reconfigured boolean := false;
begin
  v_tenant := ingest.open_tenant(_size_bytes);
  v_project := accounts.find_project(_project);
  if _pipeline_config ? 'language' then
    perform accounts.check_text_config(_pipeline_config ->> 'language', 'pipeline_config.language');
  end if;
  if num_nonnulls(_source_id, _uploaded_by) <> 1 then
    raise exception using errcode = 'PS005', detail = 'source_id',
      message = 'an ingestion needs exactly one of source_id and uploaded_by',
      hint = 'Give uploaded_by, or the source_id it came from.';
  end if;
  if _source_id is not null then
    select case when _external_id is null then 'content' else k.identity end into v_identity
    from ingest.source s
    join internal.source_kind k on k.kind = s.kind
    where s.tenant_id = v_tenant.tenant_id and s.source_id = _source_id and s.removed_at is null
    for key share of s;
    if not found then
      raise exception using errcode = 'PS013', detail = 'source_id',
        message = format('there is no source %s', _source_id),
        hint = 'List the sources of this tenant: penstock source list';
    end if;
  end if;
  if _parent_document_id is not null and not exists (
    select from ingest.document d where d.tenant_id = v_tenant.tenant_id and d.document_id = _parent_document_id)
  then
    raise exception using errcode = 'PS013', detail = 'parent_document_id',
      message = format('there is no document %s', _parent_document_id), hint = 'Check the id.';
  end if;

  if _external_id is not null then
    perform pg_advisory_xact_lock(hashtextextended(concat_ws(chr(31),
      case when v_identity = 'item' then _source_id else v_project.project_id end, _external_id), 7061));
    select * into v_document from ingest.document d
    where d.tenant_id = v_tenant.tenant_id and d.external_id = _external_id and d.deleted_at is null
      and d.identity = v_identity
      and case when v_identity = 'item' then d.source_id = _source_id else d.project_id = v_project.project_id end
    for update;
  end if;

  if v_document.document_id is not null then
    if v_document.content_sha256 <> _content_sha256 then
      v_document := ingest.replace_content(
        v_document.document_id, _file_id, _content_sha256, _size_bytes, _mime_type, _extension, _filename);
      v_replaced := true;
    end if;
  else
    insert into ingest.document as d (
      document_id, tenant_id, project_id, source_id, external_id, identity, parent_document_id, content_sha256,
      size_bytes, mime_type, filename, path, file_id, status, metadata, pipeline_config, created_at, updated_at)
    values (
      _document_id, v_tenant.tenant_id, v_project.project_id, _source_id, _external_id, v_identity,
      _parent_document_id, _content_sha256, _size_bytes, _mime_type, _filename, v_path, _file_id, 'pending',
      coalesce(_metadata, '{}'), _pipeline_config, v_now, v_now)
    on conflict (tenant_id, project_id, content_sha256) where identity = 'content' and deleted_at is null
    do update set updated_at = excluded.updated_at
    returning d.document_id, d.xmax = 0 into v_document_id, v_created;
    select * into v_document from ingest.document d where d.document_id = v_document_id;
  end if;

  if v_created then
    insert into files.file (
      file_id, tenant_id, document_id, blob_path, content_sha256, size_bytes, mime_type, stored_at)
    values (
      _file_id, v_tenant.tenant_id, _document_id,
      coalesce(files.take_intent(_file_id), format('documents/%s.%s', _document_id, _extension)),
      _content_sha256, _size_bytes, _mime_type, v_now);
    perform ingest.note_event(
      _document_id, 'taken_in', null, 'pending', null, null,
      jsonb_build_object('mime_type', _mime_type, 'size_bytes', _size_bytes), _ingestion_id);
  else
    v_reconfigured := _pipeline_config is not null and v_document.pipeline_config is distinct from _pipeline_config;
    if v_reconfigured or _metadata is not null or v_path <> coalesce(v_document.path, '') then
      update ingest.document d set
        pipeline_config = coalesce(_pipeline_config, d.pipeline_config),
        metadata = d.metadata || coalesce(_metadata, '{}'),
        path = coalesce(v_path, d.path)
      where d.document_id = v_document.document_id
      returning * into v_document;
    end if;
  end if;
  return ingest.open_ingestion(
    v_document, v_project, _ingestion_id, _source_id, _uploaded_by, _source_metadata, _code_version,
    v_created, v_replaced, v_reconfigured, _retry_failed);
end;
$$;
