-- What a re-index of a project would embed, estimated from its live chunks: how many, their tokens, and how much of it the
-- tenant has cached for this model. Raises PS012, PS013.
create or replace function ingest.estimate(_project text, _model text)
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'documents', count(distinct d.document_id),
    'chunks', count(c.ordinal),
    'tokens', coalesce(sum(c.token_count), 0),
    'cached_chunks', count(k.text_sha256),
    'cached_tokens', coalesce(sum(c.token_count) filter (where k.text_sha256 is not null), 0))
  from ingest.document d
  left join ingest.chunk c on c.document_id = d.document_id and c.generation = d.live_generation
  left join ingest.embedding_cache k
    on k.tenant_id = d.tenant_id and k.model = _model and k.text_sha256 = c.embedding_text_sha256
  where d.project_id = (accounts.find_project(_project)).project_id and d.deleted_at is null;
$$;
