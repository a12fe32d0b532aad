-- The live chunks of a document, in order; `_after` is the last ordinal of the previous page. Raises PS012, PS013.
create or replace function ingest.list_chunks(_document_id uuid, _after integer default -1, _limit integer default 100)
returns setof jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_generation integer;
begin
  select d.live_generation into v_generation from ingest.document d
  where d.tenant_id = internal.require_tenant() and d.document_id = _document_id and d.deleted_at is null;
  if not found then
    raise exception using errcode = 'PS013', detail = 'document_id',
      message = format('there is no document %s', _document_id),
      hint = 'Check the id; a deleted document does not come back.';
  end if;
  return query
  select jsonb_build_object(
    'chunk_id', c.chunk_id, 'ordinal', c.ordinal, 'text', c.text, 'token_count', c.token_count,
    'start', c.char_start, 'end', c.char_end, 'page_from', c.page_from, 'page_to', c.page_to,
    'heading_path', c.heading_path, 'headings', ingest.headings_as_json(c.headings), 'embedding_model', c.embedding_model,
    'embedding_text_sha256', encode(c.embedding_text_sha256, 'hex'))
  from ingest.chunk c
  where c.document_id = _document_id and c.generation = v_generation and c.ordinal > coalesce(_after, -1)
  order by c.ordinal
  limit least(greatest(_limit, 1), 1001);
end;
$$;
