-- The parsed text of a document between two positions, put together from its live chunks; what two chunks share is written once, and
-- what none has (space between them) is left out as spaces. `length` is where its last chunk ends. Raises PS012, PS013.
create or replace function ingest.document_text(_document_id uuid, _from integer default 0, _to integer default null)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_generation integer;
  v_from integer := greatest(coalesce(_from, 0), 0);
  v_to integer := least(coalesce(_to, 200000 + v_from), v_from + 200000);
  v_at integer := v_from;
  v_length integer;
  v_parts text[] := '{}';
  v_pages jsonb := '[]';
  v_piece text;
  v_chunk record;
begin
  select d.live_generation into v_generation from ingest.document d
  where d.tenant_id = internal.require_tenant() and d.document_id = _document_id and d.deleted_at is null;
  if not found then
    raise exception using errcode = 'PS013', detail = 'document_id',
      message = format('there is no document %s', _document_id),
      hint = 'Check the id; a deleted document does not come back.';
  end if;
  select max(c.char_end) into v_length from ingest.chunk c
  where c.document_id = _document_id and c.generation = v_generation;
  for v_chunk in
    select c.ordinal, c.text, c.char_start, c.char_end, c.page_from, c.page_to from ingest.chunk c
    where c.document_id = _document_id and c.generation = v_generation and c.char_end > v_from and c.char_start < v_to
    order by c.ordinal
  loop
    v_pages := v_pages || jsonb_build_object('ordinal', v_chunk.ordinal, 'start', v_chunk.char_start, 'end', v_chunk.char_end,
      'page_from', v_chunk.page_from, 'page_to', v_chunk.page_to);
    continue when v_chunk.char_end <= v_at;
    if v_chunk.char_start > v_at then
      v_parts := v_parts || repeat(E'\n', least(v_chunk.char_start - v_at, v_to - v_at));
      v_at := v_chunk.char_start;
    end if;
    -- A chunk's text is as long as its range, unless a heading or a table's first row was repeated in it: then its end is the text's.
    v_piece := right(v_chunk.text, v_chunk.char_end - v_at);
    v_piece := left(v_piece, v_to - v_at);
    v_parts := v_parts || v_piece;
    v_at := v_at + length(v_piece);
  end loop;
  return jsonb_build_object(
    'document_id', _document_id, 'from', v_from, 'to', v_at, 'length', coalesce(v_length, 0),
    'text', array_to_string(v_parts, ''), 'chunks', v_pages);
end;
$$;
