-- Removes the cached embeddings of the texts of one generation, or with null of a whole document, that no other chunk of the
-- tenant has: texts that a document no longer contains are not kept. Runs with its caller's rights, before the chunks are
-- deleted. Locks: the rows it deletes.
create or replace function ingest.forget_texts(_tenant_id uuid, _document_id uuid, _generation integer)
returns void
language sql
as $$
  delete from ingest.embedding_cache e
  using (
    select distinct c.embedding_model, c.embedding_text_sha256 from ingest.chunk c
    where c.tenant_id = _tenant_id and c.document_id = _document_id
      and (_generation is null or c.generation = _generation)
  ) own
  where e.tenant_id = _tenant_id
    and e.model = own.embedding_model
    and e.text_sha256 = own.embedding_text_sha256
    and not exists (
      select from ingest.chunk other
      join ingest.document d on d.document_id = other.document_id and d.deleted_at is null
      where other.tenant_id = _tenant_id
        and other.embedding_text_sha256 = own.embedding_text_sha256
        and (other.document_id <> _document_id or other.generation <> _generation));
$$;
