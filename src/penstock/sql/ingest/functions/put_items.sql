-- Writes a batch of items of a sync: payloads, documents, chunks, vectors, and the sync's counts. The text of an item with a
-- vector is indexed here and now; text without one (too long for one chunk, no embedder just now, an index outside the
-- database) becomes a pending document that the queue indexes. A document keeps its id when its text changes.
-- _items: an array of {n, external_id, document_type, version, payload, payload_sha256, map_version, title, text, tokens, url,
-- created_at, updated_at, document_id}; `document_id` is given for files, which were taken in before. _embeddings[n] is the
-- vector of item n. _unchanged: items that are as they were. _failures: items that could not be read or mapped. _is_remap: the
-- items come from what is stored, not from the provider, so the pass has not seen them. _embedded: how many texts were new.
-- Locks: the job's row, the project's shared, the documents by id. Raises PS006, PS012, PS017, PS020.
create or replace function ingest.put_items(
  _job_id uuid,
  _run integer,
  _stream text,
  _items jsonb,
  _embeddings text[],
  _embedder text,
  _model text,
  _code_version text,
  _unchanged text[] default '{}',
  _failures jsonb default '[]',
  _is_remap boolean default false,
  _embedded integer default 0
)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
  v_job ingest.ingestion_job := ingest.hold_sync(_job_id, _run);
  v_project accounts.project;
  v_pass integer;
  v_pipeline text;
  v_direct boolean;
  v_records ingest.record_to_index[];
begin
  perform ingest.open_tenant();
  select p.* into v_project from accounts.project p
  where p.project_id = (select s.project_id from ingest.source s where s.source_id = v_job.source_id) for share;
  select s.pass into v_pass from ingest.source_stream s where s.source_id = v_job.source_id and s.stream = _stream;
  v_pipeline := ingest.pipeline_of(v_project, v_project.embedder, null, _code_version);
  -- During a switch of the embedder the queue indexes, because it knows how to stage.
  v_direct := v_project.embedder = _embedder and v_project.next_embedder is null;
  -- `offset 0` looks each item up: before the first statistics the planner takes reading all of the source's for cheaper.
  perform from ingest.document d
  where d.document_id = any (array(
    select k.document_id
    from jsonb_to_recordset(_items) as g (external_id text)
    cross join lateral (
      select o.document_id from ingest.document o
      where o.source_id = v_job.source_id and o.external_id = g.external_id and o.identity = 'item' and o.deleted_at is null
      offset 0) k))
  order by d.document_id for update;

  with given as materialized (
    select g.*, d.document_id as known_id, d.live_generation, d.next_generation, d.file_id,
      sha256(convert_to(g.text, 'UTF8')) as sha256, octet_length(g.text) as size_bytes,
      coalesce(v_direct and _embeddings[g.n] is not null and coalesce(d.status = 'indexed', true), false) as is_direct,
      coalesce(d.status = 'indexed' and d.file_id is null and d.indexed_pipeline = v_pipeline
        and d.content_sha256 = sha256(convert_to(g.text, 'UTF8')), false) as is_same
    from jsonb_to_recordset(_items) as g (
      n integer, external_id text, title text, text text, tokens integer, url text, document_type text,
      created_at timestamptz, updated_at timestamptz)
    left join lateral (
      select o.* from ingest.document o
      where o.source_id = v_job.source_id and o.external_id = g.external_id and o.identity = 'item' and o.deleted_at is null
      offset 0) d on true
    where g.text is not null
  ), made as (
    insert into ingest.document as d (
      document_id, tenant_id, project_id, source_id, external_id, identity, content_sha256, size_bytes, mime_type, title,
      status, document_created_at, document_modified_at, parser, metadata, live_generation, next_generation, chunk_count,
      token_count, indexed_at, indexed_sha256, indexed_pipeline, created_at, updated_at)
    select internal.uuid7(), v_job.tenant_id, v_project.project_id, v_job.source_id, g.external_id, 'item', g.sha256,
      g.size_bytes, 'text/plain', g.title,
      case when g.is_direct then 'indexed' else 'pending' end::ingest.document_status, g.created_at, g.updated_at, 'record',
      jsonb_strip_nulls(jsonb_build_object('document_type', g.document_type, 'url', g.url)),
      g.is_direct::integer, 1 + g.is_direct::integer, g.is_direct::integer, case when g.is_direct then g.tokens else 0 end,
      case when g.is_direct then v_now end, case when g.is_direct then g.sha256 end,
      case when g.is_direct then v_pipeline end, v_now, v_now
    from given g
    where g.known_id is null
    returning d.document_id, d.external_id, d.status, d.live_generation
  ), changed as (
    update ingest.document d set
      content_sha256 = g.sha256, size_bytes = g.size_bytes, mime_type = 'text/plain', file_id = null, title = g.title,
      document_created_at = g.created_at, document_modified_at = g.updated_at, updated_at = v_now,
      metadata = d.metadata || jsonb_strip_nulls(jsonb_build_object('document_type', g.document_type, 'url', g.url)),
      live_generation = case when g.is_direct and not g.is_same then d.next_generation else d.live_generation end,
      next_generation = d.next_generation + (g.is_direct and not g.is_same)::integer,
      chunk_count = case when g.is_direct then 1 else d.chunk_count end,
      token_count = case when g.is_direct then g.tokens else d.token_count end,
      indexed_at = case when g.is_direct then v_now else d.indexed_at end,
      indexed_sha256 = case when g.is_direct then g.sha256 else d.indexed_sha256 end,
      indexed_pipeline = case when g.is_direct then v_pipeline else d.indexed_pipeline end,
      parser = case when g.is_direct then 'record' else d.parser end,
      fallback_embedder = case when g.is_direct then null else d.fallback_embedder end
    from given g
    where d.document_id = g.known_id
    returning d.document_id, d.external_id, d.status, d.live_generation
  ), swept as (
    insert into ingest.sweep (tenant_id, document_id, generation, due_at)
    select v_job.tenant_id, g.known_id, g.live_generation, v_now + interval '10 minutes'
    from given g where g.known_id is not null and g.is_direct and not g.is_same and g.live_generation > 0
    on conflict do nothing
  )
  select array_agg((w.document_id, w.live_generation, g.n, g.external_id, g.text, g.tokens, g.sha256, g.known_id is null,
    g.is_direct and not g.is_same, g.is_same, w.status)::ingest.record_to_index order by g.n)
  into v_records
  from given g
  join (select * from made union all select * from changed) w on w.external_id = g.external_id;

  -- Text instead of a file: the file is removed by maintenance.
  update files.file f set deleted_at = v_now
  from unnest(v_records) r
  where f.document_id = r.document_id and f.tenant_id = v_job.tenant_id and f.deleted_at is null;
  perform ingest.index_records(v_project, v_records, _embeddings, _model);
  perform ingest.note_records(_job_id, v_records);

  insert into ingest.source_document as s (
    source_id, external_id, tenant_id, stream, document_type, document_id, version, raw_payload, payload_sha256, text,
    embedding_model, embedding_text_sha256, map_version, pass, source_created_at, source_updated_at, created_at, updated_at)
  select v_job.source_id, g.external_id, v_job.tenant_id, _stream, g.document_type, coalesce(r.document_id, g.document_id),
    g.version, g.payload, decode(g.payload_sha256, 'hex'), g.text, case when r.is_direct or r.is_same then _model end,
    r.sha256, g.map_version, v_pass, g.created_at, g.updated_at, v_now, v_now
  from jsonb_to_recordset(_items) as g (
    n integer, external_id text, document_type text, document_id uuid, version text, payload jsonb, payload_sha256 text,
    text text, map_version integer, created_at timestamptz, updated_at timestamptz)
  left join unnest(v_records) r on r.n = g.n
  order by g.external_id
  on conflict (source_id, external_id) do update set
    stream = excluded.stream, document_type = excluded.document_type, document_id = excluded.document_id,
    version = excluded.version, raw_payload = excluded.raw_payload, payload_sha256 = excluded.payload_sha256,
    text = excluded.text, embedding_model = excluded.embedding_model,
    embedding_text_sha256 = excluded.embedding_text_sha256, map_version = excluded.map_version,
    pass = case when _is_remap then s.pass else excluded.pass end,
    source_created_at = excluded.source_created_at, source_updated_at = excluded.source_updated_at,
    updated_at = excluded.updated_at;
  update ingest.source_document s set pass = v_pass, updated_at = v_now
  where s.source_id = v_job.source_id and s.external_id = any (_unchanged);
  -- An item that failed exists: the end of a full pass must not take it for deleted.
  update ingest.source_document s set pass = v_pass
  where not _is_remap and s.source_id = v_job.source_id and s.stream = _stream and s.pass < v_pass
    and s.external_id in (select _stream || '/' || (f ->> 'id') from jsonb_array_elements(_failures) f);

  update ingest.ingestion_job j set
    items_seen = j.items_seen + case when _is_remap then 0
      else jsonb_array_length(_items) + cardinality(_unchanged) + jsonb_array_length(_failures) end,
    items_written = j.items_written + case when _is_remap then 0 else jsonb_array_length(_items) end,
    texts_embedded = j.texts_embedded + _embedded,
    items_remapped = j.items_remapped + case when _is_remap then jsonb_array_length(_items) else 0 end,
    items_unchanged = j.items_unchanged + cardinality(_unchanged),
    items_failed = j.items_failed + jsonb_array_length(_failures),
    error_details = case when _failures = '[]' then j.error_details else (
      select jsonb_agg(f.value order by f.place) from (
        select e.value, e.place from jsonb_array_elements(j.error_details || _failures) with ordinality as e (value, place)
        order by e.place desc limit 100) f) end,
    updated_at = v_now
  where j.job_id = _job_id;
  return coalesce(cardinality(v_records), 0);
end;
$$;
