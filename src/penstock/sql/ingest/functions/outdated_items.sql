-- Items of a source that an older version of their field map made, after _after, in the order of their external ids, with all that
-- is needed to map them again without asking the provider. A newer version than ours is left alone: another worker has it already.
-- Raises PS012.
create or replace function ingest.outdated_items(
  _source_id uuid, _document_types text[], _map_versions integer[], _after text default null, _limit integer default 500
)
returns table (
  external_id text,
  stream text,
  document_type text,
  version text,
  payload text,
  payload_sha256 bytea,
  file_id uuid,
  embedding_model text,
  embedding_text_sha256 bytea,
  source_created_at timestamptz,
  source_updated_at timestamptz
)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select s.external_id, s.stream, s.document_type, s.version, s.raw_payload::text, s.payload_sha256,
    case when s.text is null then s.document_id end, s.embedding_model, s.embedding_text_sha256, s.source_created_at,
    s.source_updated_at
  from unnest(_document_types, _map_versions) as m (document_type, map_version)
  join ingest.source_document s
    on s.source_id = _source_id and s.document_type = m.document_type and s.map_version < m.map_version
  where s.tenant_id = internal.require_tenant() and (_after is null or s.external_id > _after)
  order by s.external_id
  limit _limit;
$$;
