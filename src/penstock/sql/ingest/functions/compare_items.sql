-- What is known of these items: those whose payload, map and document are as they were (`is_unchanged`), and the text that was
-- embedded last, so that the same text is not embedded again. `offset 0` looks each item up: before the first statistics the
-- planner takes comparing them with all of the tenant's for cheaper. Raises PS012.
create or replace function ingest.compare_items(
  _source_id uuid, _external_ids text[], _payload_sha256s bytea[], _map_versions integer[]
)
returns table (external_id text, is_unchanged boolean, embedding_model text, embedding_text_sha256 bytea)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select s.external_id,
    s.payload_sha256 = g.payload_sha256 and s.map_version = g.map_version and (s.document_id is null or d.is_there is not null),
    s.embedding_model, s.embedding_text_sha256
  from unnest(_external_ids, _payload_sha256s, _map_versions) as g (external_id, payload_sha256, map_version)
  cross join lateral (
    select i.external_id, i.payload_sha256, i.map_version, i.document_id, i.embedding_model, i.embedding_text_sha256
    from ingest.source_document i
    where i.tenant_id = internal.require_tenant() and i.source_id = _source_id and i.external_id = g.external_id
    offset 0) s
  left join lateral (
    select true as is_there from ingest.document i
    where i.document_id = s.document_id and i.deleted_at is null
    offset 0) d on true;
$$;
